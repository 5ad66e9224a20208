"""Represent a record of the metadata log that the node can't read, such as a newer type or version.

A node stores and replicates the record byte for byte, since neither needs the meaning. A node that
has to apply the record exits (node/core/metadata/apply.py), as in Kafka.
"""

from typing import ClassVar

from kraftproof.node.wire.schema import Entity

NOT_READ = -1
"""The type or version of a value with an unknown head."""


class UnknownRecord(Entity, frozen=True, kw_only=True, gc=False):
    """The bytes of a record's value, and the reason why the value is unreadable."""

    KEY: ClassVar[int] = -1

    record_type: int = NOT_READ
    version: int = NOT_READ
    value: bytes = b""
    reason: str = ""
