"""Choose the version in which a metadata record is written, by the level of metadata.version.

A node of the finalized level, or of a higher level, reads the version (KIP-778). The table is that
of Kafka 4.3.0 (MetadataVersion).
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from kraftproof.node.wire.records.metadata import (
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)

_FIRST_LEVELS: Final[Mapping[int, tuple[int, ...]]] = {
    RegisterBrokerRecord.KEY: (0, 8, 17, 30),
    PartitionRecord.KEY: (17, 23),
    PartitionChangeRecord.KEY: (17, 23),
    BrokerRegistrationChangeRecord.KEY: (0, 17, 30),
}
"""By record type: the level from which each version after version 0 is written.

The level 0 stands for the oldest supported level, which writes the version already.
"""


def write_version(record: MetadataRecord, level: int) -> int:
    """Return the version of a record at a level.

    A record with fields of a later level, inherited from another cluster, keeps the fields: it is
    written in its newest version.
    """
    if _has_later_fields(record, level):
        return record.MAX_VERSION
    return version_at(record.KEY, level)


def version_at(key: int, level: int) -> int:
    """Return the version of a type of records at a level."""
    return bisect_right(_FIRST_LEVELS.get(key, ()), level)


def _has_later_fields(record: MetadataRecord, level: int) -> bool:
    if isinstance(record, PartitionRecord | PartitionChangeRecord):
        elr = (record.eligible_leader_replicas, record.last_known_elr)
        return (elr != (None, None) and level < 23) or (bool(record.directories) and level < 17)
    if isinstance(record, RegisterBrokerRecord | BrokerRegistrationChangeRecord):
        has_cordoned = record.cordoned_log_dirs is not None
        return (has_cordoned and level < 30) or (bool(record.log_dirs) and level < 17)
    return False
