"""Define the value of a `records` field: decoded metadata, or the bytes of a topic's batches.

A Fetch answer about the metadata log carries decoded batches in memory. A Fetch answer about a
topic carries the bytes of the batches, which brokers store and return unchanged.
"""

from kraftproof.node.wire.records.batch import Batch

Records = tuple[Batch, ...] | bytes


def metadata_batches(records: Records | None) -> tuple[Batch, ...]:
    """Return the decoded batches; none for the bytes of a topic."""
    return records if isinstance(records, tuple) else ()
