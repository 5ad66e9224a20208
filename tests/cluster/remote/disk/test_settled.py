"""A power loss takes no part of a set-up: what it wrote counts as durable once a node is ready."""

import asyncio
import os
import time
from random import Random

import pytest

from kraftproof.cluster.power_loss import LOSE_ALL
from kraftproof.cluster.protocol import Capability
from kraftproof.cluster.remote.disk.node_disk import NodeDisk
from kraftproof.cluster.remote.disk.node_disks import NodeDisks
from kraftproof.cluster.systems.deployment import SET_UP_DONE

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")

LOSING_ALL = next(
    seed
    for seed in map(str, range(999))
    if all(random.random() < LOSE_ALL for random in [Random(seed)] for _ in range(3))
)
"""The seed of a disk that loses the names, and then all of two files (but for zeros)."""


class Clock:
    def now(self):
        return 0


def test_what_was_written_by_then_is_durable_and_the_rest_is_not(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "old").write_text("old")

    def append(name, text):
        with (data / name).open("a") as file:
            file.write(text)

    async def whole():
        disk = NodeDisk(data, tmp_path / "report", LOSING_ALL, 0)
        await disk.mount()
        try:
            for name in ("old", "new"):
                await asyncio.to_thread(append, name, " set-up")
            then = time.monotonic_ns()
            for name in ("old", "new", "newer"):
                await asyncio.to_thread(append, name, " node")
            await disk.settle(then)
            await disk.lose()
        finally:
            await disk.unmount()

    asyncio.run(whole())
    kept = {path.name: path.read_text().rstrip("\0") for path in data.iterdir()}
    assert kept == {
        "old": "old set-up",
        "new": " set-up",
    }
    assert (tmp_path / "report").read_text().count('"event": "synced"') == 2


@pytest.mark.parametrize("has_set_up", [True, False])
def test_the_mark_of_the_set_up_says_until_when(tmp_path, has_set_up):
    directory = tmp_path / "1"
    (directory / "data").mkdir(parents=True)
    disks = NodeDisks(frozenset({Capability.LOSE_UNSYNCED}), 1, {1: directory}, scope=Clock())

    async def whole():
        await disks.mount(1, ("data",))
        try:
            await asyncio.to_thread((directory / "data" / "of-set-up").write_text, "1")
            if has_set_up:
                (directory / SET_UP_DONE).touch()
            await asyncio.sleep(0.05)
            await asyncio.to_thread((directory / "data" / "of-node").write_text, "2")
            await disks.ready()
            (disk,) = disks._of(1)
            return (await disk.state())["unsynced_names"]
        finally:
            await disks.unmount()

    assert asyncio.run(whole()) == (["of-node"] if has_set_up else ["of-node", "of-set-up"])
