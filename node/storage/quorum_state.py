"""Read and write the quorum-state file: atomically replaced JSON, version 0 (KIP-595).

The core emits PersistQuorumState before every effect that depends on the state. `appliedOffset` is
always 0, since the node reads the whole log at its start. Two additions are ignored by Kafka:
`nodeId` protects a node from the file and the vote of another node, and `crc32`, of the other
fields, from a damaged vote. A file without `crc32`, as Kafka writes, is read as well.
"""

import json
from collections.abc import Sequence
from zlib import crc32

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, replace_durably

FILE_NAME = "quorum-state"
DATA_VERSION = 0
SMALLEST = {"leaderId": -1, "leaderEpoch": 0, "votedId": -1}


def write_quorum_state(
    filesystem: FileSystem,
    path: str,
    state: QuorumState,
    *,
    cluster_id: str,
    node_id: NodeId,
    voter_ids: Sequence[NodeId],
) -> None:
    """Replace the file; after the return, no crash restores the old state."""
    content: dict[str, object] = {
        "clusterId": cluster_id,
        "leaderId": state.leader,
        "leaderEpoch": state.epoch,
        "votedId": state.voted_for,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": voter} for voter in voter_ids],
        "nodeId": node_id,
        "data_version": DATA_VERSION,
    }
    content["crc32"] = _checksum(content)
    replace_durably(filesystem, path, _encode(content))


def read_quorum_state(
    filesystem: FileSystem, path: str, cluster_id: str, node_id: NodeId
) -> QuorumState:
    """Return the stored state; without a file, epoch 0 without vote or leader (595-06).

    Raises:
        StorageError: the file is garbled, or belongs to another cluster or node.
    """
    if not filesystem.exists(path):
        return QuorumState()
    try:
        content = json.loads(filesystem.read(path))
    except ValueError as error:
        raise StorageError(f"{path}: is not JSON ({error}); restore the file") from error
    if not isinstance(content, dict):
        raise StorageError(f"{path}: is not a JSON object; restore the file")
    checksum = content.pop("crc32", None)
    if checksum is not None and checksum != _checksum(content):
        raise StorageError(
            f"{path}: crc32 is {checksum!r}, not {_checksum(content)}; restore the file"
        )
    if content.get("data_version") != DATA_VERSION:
        version = content.get("data_version")
        raise StorageError(f"{path}: data_version is {version!r}, only {DATA_VERSION} can be read")
    written_id = content.get("clusterId") or cluster_id
    if written_id != cluster_id:
        raise StorageError(f"{path}: clusterId is {written_id!r}, this directory's is {cluster_id}")
    writer = content.get("nodeId", node_id)
    if writer != node_id:
        raise StorageError(
            f"{path}: nodeId is {writer!r}, this node's is {node_id}; restore this node's file"
        )
    values = {name: _integer(path, content, name) for name in SMALLEST}
    return QuorumState(
        epoch=Epoch(values["leaderEpoch"]),
        voted_for=NodeId(values["votedId"]),
        leader=NodeId(values["leaderId"]),
    )


def _encode(content: dict[str, object]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _checksum(content: dict[str, object]) -> int:
    """Return the CRC-32 of fields in their order in the file."""
    return crc32(_encode(content))


def _integer(path: str, content: dict[str, object], name: str) -> int:
    value = content.get(name)
    if type(value) is not int or not SMALLEST[name] <= value <= 0x7FFFFFFF:
        raise StorageError(
            f"{path}: {name} is {value!r}, not an integer from {SMALLEST[name]}; restore the file"
        )
    return value
