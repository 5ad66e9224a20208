"""Read and write the voters of a formatting: the snapshot at offset 0 of a metadata log (KIP-853).

`kafka-storage format` writes the file with --standalone and --initial-controllers. The snapshot has
control records only: the level of kraft.version and the voters, each with its directory id.
"""

from collections.abc import Sequence
from typing import Final

from kraftproof.node.core.base.config import Voter
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.storage.snapshots import snapshot_name
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import (
    KRaftVersion,
    SnapshotFooter,
    SnapshotHeader,
    Voters,
)
from kraftproof.node.wire.records.generated.voters import Voter as FormattedVoter

KRAFT_VERSION_LEVEL: Final = 1
"""The level of kraft.version of a quorum whose voters can change."""


def voters_path(directory: str) -> str:
    """Return the path of the file within a metadata directory."""
    return join(join(directory, DIRECTORY_NAME), snapshot_name(LOG_BEGIN))


def write_voters(
    filesystem: FileSystem, directory: str, voters: Sequence[FormattedVoter], timestamp_ms: int
) -> None:
    """Write the first voters of a quorum into a metadata directory, durably."""
    first = (
        SnapshotHeader(last_contained_log_timestamp=timestamp_ms),
        KRaftVersion(k_raft_version=KRAFT_VERSION_LEVEL),
        Voters(voters=tuple(voters)),
    )
    batches = [
        Batch(base_offset=0, epoch=0, timestamp_ms=timestamp_ms, is_control=True, records=first),
        Batch(
            base_offset=len(first),
            epoch=0,
            timestamp_ms=timestamp_ms,
            is_control=True,
            records=(SnapshotFooter(),),
        ),
    ]
    filesystem.make_directory(join(directory, DIRECTORY_NAME))
    replace_durably(filesystem, voters_path(directory), encode_batches(batches))


def read_voters(filesystem: FileSystem, directory: str) -> tuple[Voter, ...]:
    """Return the voters of a formatting; empty without the file.

    Raises:
        StorageError: the file is damaged.
    """
    path = voters_path(directory)
    if not filesystem.exists(path):
        return ()
    try:
        batches = decode_batches(filesystem.read(path))
    except WireError as error:
        raise StorageError(f"{path}: {error}; format the directory again") from error
    records = [record for batch in batches for record in batch.records]
    if not records or not isinstance(records[-1], SnapshotFooter):
        raise StorageError(f"{path}: is no complete checkpoint; format the directory again")
    found = [voter for record in records if isinstance(record, Voters) for voter in record.voters]
    if not all(voter.endpoints for voter in found):
        raise StorageError(f"{path}: a voter has no address; format the directory again")
    return tuple(
        Voter(
            node_id=NodeId(voter.voter_id),
            host=voter.endpoints[0].host,
            port=voter.endpoints[0].port,
        )
        for voter in found
    )
