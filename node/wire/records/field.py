"""Define the value of a `records` field: decoded metadata, or the bytes of a topic's batches.

A Fetch answer about the metadata log carries decoded batches in memory. A Fetch answer about a
topic carries the bytes of the batches, which brokers store and return unchanged.
"""

from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batches

Records = tuple[Batch, ...] | bytes


def encode_records(records: Records) -> bytes:
    """Return the bytes of the field.

    Raises:
        WireError: a decoded batch holds no record, or a record does not fit its version.
    """
    return records if isinstance(records, bytes) else encode_batches(records)


def metadata_batches(records: Records | None) -> tuple[Batch, ...]:
    """Return the decoded batches; none for the bytes of a topic."""
    return records if isinstance(records, tuple) else ()
