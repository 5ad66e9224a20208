"""Read and write bootstrap.checkpoint, the first records of a cluster (KIP-778, KIP-900).

kraft-storage writes the file into the directory of the metadata log, in the form of a snapshot. The
first active controller of an empty log writes the records into the log.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.version import (
    LARGEST_LEVEL,
    LEAST_LEVEL,
    METADATA_VERSION,
    METADATA_VERSION_LEVEL,
)
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch, Record, write_level
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader
from kraftproof.node.wire.records.metadata import FeatureLevelRecord

FILE_NAME: Final = "bootstrap.checkpoint"
LEFT_OUT: Final = frozenset(
    {
        "eligible.leader.replicas.version",
        "group.version",
        "share.version",
        "streams.version",
        "transaction.version",
    }
)
"""The features of Kafka 4.3 that a node of ours does not have."""
_EPOCH: Final = 1


def write_bootstrap(
    filesystem: FileSystem, directory: str, records: Sequence[Record], timestamp_ms: int = 0
) -> None:
    """Write the first records of a cluster, durably."""
    levels = [
        record.feature_level
        for record in records
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION
    ]
    level = write_level((*levels, METADATA_VERSION_LEVEL)[0])
    batches: list[Batch] = []
    header = SnapshotHeader(last_contained_log_timestamp=timestamp_ms)
    parts: tuple[tuple[bool, tuple[Record, ...]], ...] = (
        (True, (header,)),
        (False, tuple(records)),
        (True, (SnapshotFooter(),)),
    )
    offset = 0
    for is_control, part in parts:
        batch = Batch(
            base_offset=offset,
            epoch=_EPOCH,
            timestamp_ms=timestamp_ms,
            is_control=is_control,
            records=part,
            level=level,
        )
        offset = batch.next_offset
        batches.append(batch)
    replace_durably(filesystem, join(directory, FILE_NAME), encode_batches(batches))


class FirstRecords(Struct, frozen=True, kw_only=True):
    """The first records of a cluster that this node can write."""

    records: tuple[Record, ...] = ()
    warnings: tuple[str, ...] = ()
    """A line about the features of Kafka that are left out."""


def read_bootstrap(filesystem: FileSystem, directory: str) -> FirstRecords:
    """Return the first records of a cluster; none without the file.

    A cluster that this node begins has the level 0 of Kafka's other features.

    Raises:
        StorageError: the file is damaged, or names a feature or a level that is unknown.
    """
    path = join(directory, FILE_NAME)
    if not filesystem.exists(path):
        return FirstRecords()
    try:
        batches = decode_batches(filesystem.read(path))
    except WireError as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    whole = [record for batch in batches for record in batch.records]
    is_framed = bool(whole) and isinstance(whole[0], SnapshotHeader)
    if not is_framed or not isinstance(whole[-1], SnapshotFooter):
        raise StorageError(f"{path}: is no complete checkpoint; format the directory again")
    read = [record for batch in batches if not batch.is_control for record in batch.records]
    left_out = [
        record
        for record in read
        if isinstance(record, FeatureLevelRecord) and record.name in LEFT_OUT
    ]
    records = tuple(record for record in read if record not in left_out)
    for record in records:
        if isinstance(record, FeatureLevelRecord):
            _check_feature(path, record)
    try:
        apply_all(EMPTY_IMAGE, records)
    except ApplyError as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    return FirstRecords(records=records, warnings=_warnings(path, left_out))


def bootstrap_image(config: NodeConfig) -> MetadataImage:
    """Return the image of the first records alone; see docs/decisions/0561 for its use."""
    return apply_all(EMPTY_IMAGE, config.bootstrap)


def _warnings(path: str, left_out: Sequence[FeatureLevelRecord]) -> tuple[str, ...]:
    if not left_out:
        return ()
    names = ", ".join([record.name for record in left_out])
    return (f"{path}: {names}: the level of a new cluster stays 0, this node lacks the feature",)


def _check_feature(path: str, record: FeatureLevelRecord) -> None:
    is_known = record.name == METADATA_VERSION
    if not is_known or not LEAST_LEVEL <= record.feature_level <= LARGEST_LEVEL:
        raise StorageError(
            f"{path}: {record.name} has the level {record.feature_level}; this node supports"
            f" {METADATA_VERSION} {LEAST_LEVEL} to {LARGEST_LEVEL} and no other feature"
        )
