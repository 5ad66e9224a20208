"""A record of the metadata log that this node can't read: a newer type or version, or no record.

A node stores and replicates such a record, byte for byte, since neither needs its meaning. A node
that would have to apply the record ends (node/core/metadata/apply.py), as Kafka's does.
"""

from typing import ClassVar

from kraftproof.node.wire.schema import Entity

NOT_READ = -1
"""The type or version where the value's head is of no form that this node knows."""


class UnknownRecord(Entity, frozen=True, kw_only=True, gc=False):
    """The bytes of a record's value and why they could not be read."""

    KEY: ClassVar[int] = -1

    record_type: int = NOT_READ
    version: int = NOT_READ
    value: bytes = b""
    reason: str = ""
