"""List the levels of metadata.version, and the behaviour that depends on the level (KIP-778).

The finalized level of the cluster is a FeatureLevelRecord in the metadata log. The level decides
the versions of the written records (node/wire/records/write_versions.py), and the versions of the
requests between nodes. The table is that of Kafka 4.3.0 (MetadataVersion).
"""

from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL, Record
from kraftproof.node.wire.records.metadata import FeatureLevelRecord

METADATA_VERSION: Final = "metadata.version"
METADATA_VERSION_LEVEL: Final = DEFAULT_LEVEL
"""3.9-IV0, the level of a new cluster that was formatted without a level."""
RELEASES: Final[Mapping[int, str]] = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
    21: "3.9-IV0",
    22: "4.0-IV0",
    23: "4.0-IV1",
    24: "4.0-IV2",
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
    30: "4.3-IV0",
}
"""The supported levels with their names."""
LEAST_LEVEL: Final = min(RELEASES)
LARGEST_LEVEL: Final = max(RELEASES)
CHANGED_METADATA: Final = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30})
"""The levels with new records or fields: a downgrade below such a level could lose metadata."""
REPLICA_EPOCHS_FROM: Final = 10
"""The level, 3.5-IV1, from which a follower's Fetch and an ISR have broker epochs (KIP-903)."""
CONTROLLERS_FROM: Final = 15
"""The level, 3.7-IV0, from which controllers are registered (KIP-919)."""
DIRECTORIES_FROM: Final = 17
"""The level, 3.7-IV2, from which replicas have log directories (KIP-858)."""
_FETCH_VERSIONS: Final = ((27, 18), (21, 17), (19, 16), (10, 15), (9, 14))
_LIST_OFFSETS_VERSIONS: Final = ((29, 11), (25, 10), (21, 9), (9, 8))


def level_of(image: MetadataImage) -> int:
    """Return the finalized level of metadata.version; the default level without a record."""
    return image.features.get(METADATA_VERSION, METADATA_VERSION_LEVEL)


def bootstrap_of(given: tuple[Record, ...]) -> tuple[FeatureLevelRecord, tuple[Record, ...]]:
    """Return the record of the first level of metadata.version, and the other first records."""
    levels = [
        record
        for record in given
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION
    ]
    default = FeatureLevelRecord(name=METADATA_VERSION, feature_level=METADATA_VERSION_LEVEL)
    return (*levels, default)[0], tuple(record for record in given if record not in levels)


def fetch_version(level: int) -> int:
    """Return the version of a follower's Fetch at a level."""
    return _at_level(_FETCH_VERSIONS, level, 13)


def list_offsets_version(level: int) -> int:
    """Return the version of a follower's ListOffsets at a level."""
    return _at_level(_LIST_OFFSETS_VERSIONS, level, 7)


def alter_partition_version(level: int) -> int:
    """Return the version of AlterPartition at a level (497-16)."""
    return 3 if level >= REPLICA_EPOCHS_FROM else 2


def _at_level(versions: tuple[tuple[int, int], ...], level: int, oldest: int) -> int:
    return next((version for least, version in versions if level >= least), oldest)
