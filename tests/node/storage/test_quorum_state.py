"""The quorum-state file: what a voter remembers, whatever happens while it is written."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from typing_extensions import override

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import AppendHandle
from kraftproof.node.storage.quorum_state import read_quorum_state, write_quorum_state

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
NODE_ID = NodeId(2)
DISK = Disk()


def state(epoch: int, voted_for: int = -1, leader: int = -1) -> QuorumState:
    return QuorumState(epoch=Epoch(epoch), voted_for=NodeId(voted_for), leader=NodeId(leader))


def write(filesystem: SimulatedFileSystem | Disk, path: str, value: QuorumState) -> None:
    voters = [NodeId(1), NodeId(2), NodeId(3)]
    write_quorum_state(
        filesystem, path, value, cluster_id=CLUSTER_ID, node_id=NODE_ID, voter_ids=voters
    )


@pytest.mark.requirement("595-05")
def test_the_file_is_json_of_version_0(tmp_path: Path) -> None:
    path = tmp_path / "quorum-state"
    write(DISK, str(path), state(7, voted_for=2, leader=3))
    written = json.loads(path.read_text())
    assert isinstance(written.pop("crc32"), int)
    assert written == {
        "clusterId": CLUSTER_ID,
        "leaderId": 3,
        "leaderEpoch": 7,
        "votedId": 2,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": 1}, {"voterId": 2}, {"voterId": 3}],
        "nodeId": 2,
        "data_version": 0,
    }
    assert read_quorum_state(DISK, str(path), CLUSTER_ID, NODE_ID) == state(7, 2, 3)


@pytest.mark.requirement("595-06")
def test_no_file_is_epoch_0_without_vote_or_leader(tmp_path: Path) -> None:
    assert read_quorum_state(DISK, str(tmp_path / "absent"), CLUSTER_ID, NODE_ID) == state(
        0, -1, -1
    )


@pytest.mark.requirement("595-06")
@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "not JSON"),
        (b'{"leaderId": 1', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"leaderId":-1,"leaderEpoch":-1,"votedId":-1,"data_version":0}', "leaderEpoch is -1"),
        (b'{"leaderId":-1,"leaderEpoch":true,"votedId":-1,"data_version":0}', "leaderEpoch is T"),
        (b'{"leaderId":-1,"leaderEpoch":"4","votedId":-1,"data_version":0}', "leaderEpoch is '4'"),
        (b'{"leaderId":-1,"leaderEpoch":4,"data_version":0}', "votedId is None"),
        (b'{"leaderId":-7,"leaderEpoch":4,"votedId":-1,"data_version":0}', "leaderId is -7"),
        (
            b'{"leaderId":-1,"leaderEpoch":4,"votedId":-1,"data_version":0,"crc32":1}',
            "crc32 is 1, not ",
        ),
        (b'{"leaderId":1,"leaderEpoch":4,"votedId":-1,"data_version":9}', "data_version is 9"),
        (
            b'{"clusterId":"x","leaderId":1,"leaderEpoch":4,"votedId":-1,"data_version":0}',
            "clusterId is 'x'",
        ),
        (
            b'{"leaderId":3,"leaderEpoch":4,"votedId":3,"nodeId":3,"data_version":0}',
            "nodeId is 3, this node's is 2",
        ),
    ],
)
def test_a_garbled_file_stops_the_start_with_one_line(
    tmp_path: Path, content: bytes, named: str
) -> None:
    path = tmp_path / "quorum-state"
    path.write_bytes(content)
    with pytest.raises(StorageError) as caught:
        read_quorum_state(DISK, str(path), CLUSTER_ID, NODE_ID)
    assert str(caught.value).startswith(f"{path}: ")
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


class KilledError(Exception):
    """The process was killed at this operation."""


class KilledAt(Disk):
    """A disk whose process dies at its n-th changing operation, half of a write done."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KilledError

    @override
    def append_to(self, path: str) -> AppendHandle:
        self.step()
        return KilledHandle(self, super().append_to(path))

    @override
    def replace(self, source: str, target: str) -> None:
        self.step()
        super().replace(source, target)

    @override
    def fsync_directory(self, path: str) -> None:
        self.step()
        super().fsync_directory(path)


class KilledHandle(AppendHandle):
    def __init__(self, disk: KilledAt, handle: AppendHandle) -> None:
        self.disk = disk
        self.handle = handle

    @override
    def write(self, data: bytes) -> None:
        try:
            self.disk.step()
        except KilledError:
            self.handle.write(data[: len(data) // 2])
            raise
        self.handle.write(data)

    @override
    def start_fsync(self) -> Callable[[], None]:
        self.disk.step()
        return self.handle.start_fsync()

    @override
    def truncate(self, size: int) -> None:
        self.disk.step()
        self.handle.truncate(size)

    @override
    def close(self) -> None:
        self.handle.close()


@pytest.mark.requirement("595-07")
@pytest.mark.requirement("595-08")
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new(tmp_path: Path) -> None:
    path = str(tmp_path / "quorum-state")
    old, new = state(4, voted_for=1), state(5, voted_for=2)
    seen: list[QuorumState] = []
    for steps in range(7):
        write(DISK, path, old)
        try:
            write(KilledAt(steps), path, new)
        except KilledError:
            finished = False
        else:
            finished = True
        seen.append(read_quorum_state(DISK, path, CLUSTER_ID, NODE_ID))
        assert seen[-1] in (old, new)
        assert not finished or seen[-1] == new
    assert seen[0] == old
    assert seen[-1] == new


@pytest.mark.requirement("595-07")
@pytest.mark.parametrize("seed", range(30))
def test_a_power_loss_never_brings_an_older_state_back(seed: int) -> None:
    random = Random(seed)
    filesystem = SimulatedFileSystem()
    filesystem.make_directory("/d")
    filesystem.fsync_directory("/")
    for epoch in range(1, 12):
        write(filesystem, "/d/quorum-state", state(epoch, voted_for=epoch % 3))
        filesystem.crash(random)
        found = read_quorum_state(filesystem, "/d/quorum-state", CLUSTER_ID, NODE_ID)
        assert found == state(epoch, voted_for=epoch % 3)


class PowerCut:
    """A simulated disk whose machine loses its power at the n-th changing operation."""

    def __init__(self, filesystem: SimulatedFileSystem, steps: int) -> None:
        self.filesystem = filesystem
        self.left = steps

    def __getattr__(self, name: str) -> object:
        return getattr(self.filesystem, name)

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KilledError

    def append_to(self, path: str) -> AppendHandle:
        self.step()
        return PowerCutHandle(self, self.filesystem.append_to(path))

    def replace(self, source: str, target: str) -> None:
        self.step()
        self.filesystem.replace(source, target)
        self.step()

    def fsync_directory(self, path: str) -> None:
        self.step()
        self.filesystem.fsync_directory(path)


class PowerCutHandle(KilledHandle):
    @override
    def start_fsync(self) -> Callable[[], None]:
        fsync = super().start_fsync()

        def durably() -> None:
            self.disk.step()
            fsync()

        return durably


@pytest.mark.requirement("595-07")
@pytest.mark.requirement("595-08")
@pytest.mark.parametrize("seed", range(8))
def test_a_power_cut_between_any_two_operations_leaves_the_old_state_or_the_new(seed: int) -> None:
    path, old, new = "/d/quorum-state", state(4, voted_for=1), state(5, voted_for=2)
    random, outcomes = Random(seed), []
    for steps in range(12):
        filesystem = SimulatedFileSystem()
        filesystem.make_directory("/d")
        filesystem.fsync_directory("/")
        write(filesystem, path, old)
        has_returned = True
        try:
            write(PowerCut(filesystem, steps), path, new)
        except KilledError:
            has_returned = False
        filesystem.crash(random)
        found = read_quorum_state(filesystem, path, CLUSTER_ID, NODE_ID)
        assert found == new if has_returned else found in (old, new)
        write(filesystem, path, new)
        assert read_quorum_state(filesystem, path, CLUSTER_ID, NODE_ID) == new, (
            "what is left is no obstacle"
        )
        outcomes.append((has_returned, found))
    assert outcomes[0] == (False, old)
    assert outcomes[-1] == (True, new)
