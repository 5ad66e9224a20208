"""A mounted disk: the kernel's own calls, losses of power, faults, and nothing left behind."""

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.power_loss import LOSE_ALL, ZEROS
from kraftproof.cluster.protocol import Capability, ClusterError
from kraftproof.cluster.remote.disk import mounts, node_disk
from kraftproof.cluster.remote.disk.node_disk import NodeDisk, unusable
from kraftproof.cluster.remote.disk.node_disks import NodeDisks
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan
from tests.support.command import ROOT, call

needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")
MS = 1_000_000
KV = f"{ROOT}/examples/kv/system.py:KV"


def loses_all(seed):
    """Whether the names and then the one file lose everything, and no zeros take its place."""
    random = Random(seed)
    return random.random() < LOSE_ALL and random.random() < LOSE_ALL and random.random() >= ZEROS


LOSING_ALL = next(seed for seed in map(str, range(99)) if loses_all(seed))
OWNER = """
import asyncio, sys
from pathlib import Path
from kraftproof.cluster.remote.disk.node_disk import NodeDisk
async def main():
    disk = NodeDisk(Path(sys.argv[1]), Path(sys.argv[2]), "seed", 0)
    await disk.mount()
    print(disk._process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.fixture
def data(tmp_path):
    directory = tmp_path / "data"
    directory.mkdir()
    (directory / "state").write_text("durable")
    return directory


def driven(data, work, seed="seed"):
    """Return what a coroutine returns that is given a mounted disk; unmount it."""

    async def whole():
        disk = NodeDisk(data, data.with_name("report.jsonl"), seed, 0)
        await disk.mount()
        try:
            return await work(disk)
        finally:
            await disk.unmount()

    return asyncio.run(whole())


def append(path, text, *, fsync=False):
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, text.encode())
        if fsync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reported(data):
    lines = data.with_name("report.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@needs_mounts
def test_this_machine_can_mount_one():
    assert unusable() is None


@needs_mounts
def test_what_was_synced_survives_a_loss_of_power_and_the_rest_may_not(data):
    async def work(disk):
        state = data / "state"
        await asyncio.to_thread(append, state, ", synced", fsync=True)
        await asyncio.to_thread(append, state, ", not")
        await asyncio.to_thread((data / "new").write_text, "no name is durable")
        assert state.read_text() == "durable, synced, not"
        lost = await disk.lose()
        return lost, state.read_text(), os.listdir(data)

    lost, text, names = driven(data, work, seed=LOSING_ALL)
    assert (text, names) == ("durable, synced", ["state"])
    assert lost == len(", not") + len("no name is durable")
    synced, loss, ended = reported(data)
    assert [(one["event"], one["time"] > 0) for one in (synced, loss, ended)] == [
        ("synced", True),
        ("lost", True),
        ("unmounted", True),
    ]
    assert [(one["start"], one["end"]) for one in synced["writes"]] == [(7, 15)]
    assert {one["file"] for one in loss["writes"]} == {"state", "new"}
    assert loss["names"] == ["new"]


@needs_mounts
def test_after_a_run_the_files_are_there_and_nothing_else(data):
    async def work(disk):
        await asyncio.to_thread(append, data / "log", "unsynced")
        return await disk.state()

    state = driven(data, work)
    assert (state["unsynced"], state["fsyncs"]) == (8, 0)
    assert (data / "log").read_text() == "unsynced", "the end of a run is no loss of power"
    assert sorted(os.listdir(data.parent)) == ["data", "report.jsonl"]
    assert str(data) not in {directory for directory, _ in mounts.mounted()}


@needs_mounts
@pytest.mark.parametrize(
    ("fault", "number"),
    [
        (DiskFault(failure="full"), errno.ENOSPC),
        (DiskFault(failure="write"), errno.EIO),
        (DiskFault(failure="fsync"), errno.EIO),
    ],
)
def test_a_fault_fails_the_calls_of_the_node_until_it_is_removed(data, fault, number):
    async def work(disk):
        await disk.add(fault)
        with pytest.raises(OSError, match="Errno") as caught:
            await asyncio.to_thread(append, data / "state", "more", fsync=True)
        hits = (await disk.state())["hits"]
        await disk.remove(fault)
        await asyncio.to_thread(append, data / "state", "again", fsync=True)
        return caught.value.errno, hits

    assert driven(data, work) == (number, 1)


@needs_mounts
def test_a_slow_fsync_holds_up_nobody_else(data):
    async def work(disk):
        await disk.add(DiskFault(slow_ns=2_000_000 * MS))
        slow = asyncio.create_task(asyncio.to_thread(append, data / "state", "x", fsync=True))
        while not (await disk.state())["hits"]:  # noqa: ASYNC110 - the disk tells nobody
            await asyncio.sleep(0.01)
        assert await asyncio.to_thread((data / "state").read_text) == "durablex"
        assert (await disk.state())["unsynced"] == 1
        assert not slow.done()
        await disk.lose()
        with pytest.raises(OSError, match="Errno"):
            await slow

    driven(data, work)
    assert (data / "state").read_text() in {"durable", "durablex"}


@needs_mounts
def test_a_large_file_is_read_as_it_was_written(data):
    written = bytes(range(256)) * 20_000

    async def work(disk):
        await asyncio.to_thread((data / "large").write_bytes, written)
        await disk.state()
        return await asyncio.to_thread((data / "large").read_bytes)

    assert driven(data, work) == written


@needs_mounts
@pytest.mark.parametrize("also_disk", [False, True])
def test_nothing_is_mounted_after_the_harness_was_killed_and_a_sweep(data, also_disk):
    command = [sys.executable, "-c", OWNER, str(data), str(data.with_name("report"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        pid = int(owner.stdout.readline())
        assert str(data) in {directory for directory, _ in mounts.mounted()}
        assert mounts.sweep() == [], "the living are left alone"
        (data / "state").unlink()
        if also_disk:
            os.kill(pid, signal.SIGKILL)
        owner.kill()
    lines = mounts.sweep() if also_disk else until_ended(pid)
    assert str(data) not in {directory for directory, _ in mounts.mounted()}
    assert [f"disk {data}: " in line for line in lines] == [True] * also_disk
    assert sorted(os.listdir(data.parent)) == ["data", "report"]


def until_ended(pid):
    """Wait for a disk's process, which ends by itself without its harness."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return []


def test_without_the_device_the_refusal_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(node_disk, "DEVICE", str(tmp_path / "fuse"))
    unusable.cache_clear()
    options = RunOptions(nemeses=("kill", "slow-disk"), backend="local", engine="inline")
    try:
        with pytest.raises(UsageError) as refusal:
            plan(options)
    finally:
        unusable.cache_clear()
    assert str(refusal.value) == (
        "--nemesis slow-disk: the local backend can't do that here: "
        f"there is no {tmp_path}/fuse on this machine"
    )


@needs_mounts
@pytest.mark.parametrize("fault", ["lose-unsynced", "slow-disk"])
def test_nodes_without_a_data_directory_are_refused_in_one_line(tmp_path, fault):
    options = ("--system", KV, "--nemesis", fault, "--time-limit", 20, "--store", tmp_path)
    done = call("test", *options, environment={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert done.returncode == 3, done.stdout
    assert done.stderr.splitlines()[-1] == (
        f"kraftproof: --nemesis {fault}: the deployment of node 1 names no data directory, so the "
        "node has no disk that can have the fault; see `data` in docs/systems.md"
    )


def test_a_disk_that_can_not_be_mounted_says_why(tmp_path):
    disk = NodeDisk(tmp_path / "none", tmp_path / "report", "seed", 0)
    with pytest.raises(ClusterError, match=r"^disk .*none: .*No such file or directory$"):
        asyncio.run(disk.mount())


REFUSED_AND_STAYS = """
import os, sys
print("no mount by process", os.getpid(), file=sys.stderr, flush=True)
os.close(1)
os.close(2)
sys.stdin.read()
"""


def test_a_failed_mount_ends_its_process(tmp_path, monkeypatch):
    command = (sys.executable, "-c", REFUSED_AND_STAYS)
    monkeypatch.setattr(node_disk, "_command", lambda *_: command)
    disk = NodeDisk(tmp_path, tmp_path / "report", "seed", 0)
    with pytest.raises(ClusterError, match=r"no mount by process \d+$") as refusal:
        asyncio.run(disk.mount())
    pid = str(refusal.value).split()[-1]
    assert not Path(f"/proc/{pid}").exists()


def test_a_run_without_disk_faults_mounts_nothing(data):
    disks = NodeDisks(frozenset({Capability.KILL}), 1, {1: data.parent}, scope=None)

    async def whole():
        await disks.mount(1, ("data",))
        await disks.ready()
        with pytest.raises(ClusterError, match="node 1: no disk that can have faults is mounted"):
            await disks.lose(1)
        await disks.unmount()

    asyncio.run(whole())
    assert sorted(os.listdir(data.parent)) == ["data"]
