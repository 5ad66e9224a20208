"""Read and write bootstrap.checkpoint, the first records of a cluster (KIP-778, KIP-900).

kraft-storage writes the file into the directory of the metadata log, in the form of a snapshot. The
first active controller of an empty log writes the records into the log.
"""

from collections.abc import Sequence
from typing import Final

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
from kraftproof.node.wire.records.batch import Batch, Record, WriteLevel
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader
from kraftproof.node.wire.records.metadata import FeatureLevelRecord

FILE_NAME: Final = "bootstrap.checkpoint"
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
    level = WriteLevel((*levels, METADATA_VERSION_LEVEL)[0])
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


def read_bootstrap(filesystem: FileSystem, directory: str) -> tuple[Record, ...]:
    """Return the first records of a cluster; none without the file.

    Raises:
        StorageError: the file is damaged, or names a feature or a level that this node lacks.
    """
    path = join(directory, FILE_NAME)
    if not filesystem.exists(path):
        return ()
    try:
        batches = decode_batches(filesystem.read(path))
    except WireError as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    whole = [record for batch in batches for record in batch.records]
    is_framed = bool(whole) and isinstance(whole[0], SnapshotHeader)
    if not is_framed or not isinstance(whole[-1], SnapshotFooter):
        raise StorageError(f"{path}: is no complete checkpoint; format the directory again")
    records = tuple(record for batch in batches if not batch.is_control for record in batch.records)
    for record in records:
        if isinstance(record, FeatureLevelRecord):
            _check_feature(path, record)
    try:
        apply_all(EMPTY_IMAGE, records)
    except ApplyError as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    return records


def bootstrap_image(config: NodeConfig) -> MetadataImage:
    """Return the image of the first records alone; see docs/decisions/0561 for its use."""
    return apply_all(EMPTY_IMAGE, config.bootstrap)


def _check_feature(path: str, record: FeatureLevelRecord) -> None:
    is_known = record.name == METADATA_VERSION
    if not is_known or not LEAST_LEVEL <= record.feature_level <= LARGEST_LEVEL:
        raise StorageError(
            f"{path}: {record.name} has the level {record.feature_level}; this node supports"
            f" {METADATA_VERSION} {LEAST_LEVEL} to {LARGEST_LEVEL} and no other feature"
        )
