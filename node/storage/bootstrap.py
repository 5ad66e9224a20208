"""Read and write bootstrap.checkpoint: records of the format step, for the first controller.

The file is a snapshot without place in the log, as Kafka's (KIP-778, KIP-900). The first active
controller copies the records into the log; see docs/decisions/0561 for credentials before that.
"""

from collections.abc import Sequence
from typing import Final, cast

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader
from kraftproof.node.wire.records.metadata import FeatureLevelRecord

FILE_NAME: Final = "bootstrap.checkpoint"


def write_bootstrap(
    filesystem: FileSystem, directory: str, records: Sequence[Record], timestamp_ms: int
) -> None:
    """Write the records to the file of a metadata directory, durably."""
    batches: list[Batch] = []
    offset = 0
    parts: tuple[tuple[bool, tuple[Record, ...]], ...] = (
        (True, (SnapshotHeader(last_contained_log_timestamp=timestamp_ms),)),
        (False, tuple(records)),
        (True, (SnapshotFooter(),)),
    )
    for is_control, part in parts:
        batch = Batch(
            base_offset=offset,
            epoch=0,
            timestamp_ms=timestamp_ms,
            is_control=is_control,
            records=part,
        )
        offset = batch.next_offset
        batches.append(batch)
    replace_durably(filesystem, join(directory, FILE_NAME), encode_batches(batches))


def read_bootstrap(filesystem: FileSystem, directory: str) -> tuple[Record, ...]:
    """Return the records of the file; none without a file.

    Raises:
        StorageError: the file is damaged, or holds a record that this node can't apply.
    """
    path = join(directory, FILE_NAME)
    if not filesystem.exists(path):
        return ()
    try:
        batches = decode_batches(filesystem.read(path))
        written = tuple(
            record
            for batch in batches
            if not batch.is_control
            for record in batch.records
            if not isinstance(record, FeatureLevelRecord)  # the node decides about levels itself
        )
        apply_all(EMPTY_IMAGE, written)
    except (WireError, ApplyError) as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    return written


def bootstrap_image(config: NodeConfig) -> MetadataImage:
    """Return the image of the records of the format step alone."""
    return apply_all(EMPTY_IMAGE, cast("tuple[Record, ...]", config.bootstrap))
