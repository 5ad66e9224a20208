"""Bytes of batches with records that this node can't read, as a newer Kafka might write them."""

import struct

from crc32c import crc32c

from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.records.unknown_record import UnknownRecord

NEWER_TYPE = bytes.fromhex("01630007") + b"whatever it holds"
"""Frame 1, type 99, version 0, and a body."""
NEWER_VERSION = bytes.fromhex("01021f") + b"x"
"""Frame 1, type 2 (TopicRecord), version 31, and a body."""
SENTENCE = (
    "offset {}: a record of type {} and version {} can not be applied ({}); run a Kraftproof that"
    " knows the record, or keep the cluster at metadata.version 30"
)


def batch_bytes(*values, base_offset=0, epoch=1):
    """Return a batch of these values with a header that our encoder would not write.

    The last record's time is later than the first's.
    """
    records = tuple(UnknownRecord(value=value) for value in values)
    batch = Batch(base_offset=base_offset, epoch=epoch, timestamp_ms=7, records=records)
    data = bytearray(encode_batch(batch))
    struct.pack_into(">q", data, 35, 9)
    struct.pack_into(">I", data, 17, crc32c(data[21:]))
    return bytes(data)
