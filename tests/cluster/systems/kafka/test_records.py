"""Batches as our producer writes them are read by the node's own parser, and by the reader."""

import pytest

from kraftproof.cluster.systems.kafka.records import Producer, batch_of, records_of
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.raw_batch import parse_batch
from kraftproof.node.wire.records.raw_records import read_records


@pytest.mark.parametrize("producer", [Producer(), Producer(77, 3, 41)])
@pytest.mark.parametrize("value", [b"", b'"3.17@k3f9a"', b"x" * 5_000])
def test_a_batch_holds_the_record_and_its_producer(value, producer):
    batch = parse_batch(batch_of(value, 1_700_000_000_123, producer))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == producer
    assert (batch.count, batch.base_timestamp_ms) == (1, 1_700_000_000_123)
    (record,) = read_records(batch)
    assert not record.has_key
    moved = [batch.moved(offset, 5).data for offset in (8, 9)]
    assert list(records_of(b"".join(moved) + moved[0][:20])) == [(8, value), (9, value)]


def test_a_damaged_batch_is_no_record():
    data = bytearray(batch_of(b"value", 0, Producer()))
    data[-3] ^= 1
    with pytest.raises(WireError, match="CRC"):
        list(records_of(bytes(data)))
