"""Fetch answers: batches of the metadata log are decoded, those of a topic stay bytes."""

import pytest

from kraftproof.node.wire.codec import decode_response, encode_response
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.fetched_records import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftproof.node.wire.messages import fetch_response
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.records.field import Records, metadata_batches
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.types import ZERO_UUID, Uuid

BATCH = Batch(base_offset=7, epoch=2, timestamp_ms=5, records=(NoOpRecord(), NoOpRecord()))
TOPIC_ID = Uuid(b"t" * 16)


def exchanged(
    version: int, records: Records, *, topic: str = "", topic_id: Uuid = ZERO_UUID
) -> Records | None:
    """Return the records of an answer after encoding and decoding."""
    part = fetch_response.PartitionData(records=records)
    named = fetch_response.FetchableTopicResponse(
        topic=topic, topic_id=topic_id, partitions=(part,)
    )
    message = fetch_response.FetchResponse(responses=(named,))
    decoded = decode_response(1, version, encode_response(message, version))
    assert isinstance(decoded, fetch_response.FetchResponse)
    return decoded.responses[0].partitions[0].records


def test_batches_of_the_metadata_log_are_decoded_by_name_and_by_id():
    assert exchanged(12, (BATCH,), topic=METADATA_TOPIC) == (BATCH,)
    assert exchanged(18, (BATCH,), topic_id=METADATA_TOPIC_ID) == (BATCH,)


def test_batches_of_a_topic_stay_the_bytes_that_were_sent():
    foreign = b"bytes of a compressed batch"
    assert exchanged(12, foreign, topic="t") == foreign
    assert exchanged(18, foreign, topic_id=TOPIC_ID) == foreign
    assert metadata_batches(foreign) == ()
    assert metadata_batches(None) == ()
    assert metadata_batches((BATCH,)) == (BATCH,)


def test_a_damaged_batch_of_the_metadata_log_is_refused():
    damaged = bytearray(encode_batch(BATCH))
    damaged[-1] ^= 1
    with pytest.raises(WireError, match="fails its CRC"):
        exchanged(18, bytes(damaged), topic_id=METADATA_TOPIC_ID)
