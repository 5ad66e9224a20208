"""The clock of a node moves as its processes see it, with and without the C library, and heals."""

import asyncio
import os
import platform
import signal
import time

import pytest

from kraftproof.cluster.local.hosts import LocalHost
from kraftproof.cluster.processes import family_of, state_of
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.node_clock import NodeClock
from kraftproof.cluster.remote.clocks.reports import FileReport
from kraftproof.cluster.systems.deployment import Deployment
from tests.cluster.remote.clocks.programs import HAS_GO, SECOND_NS, command, wall_clock

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of x86_64")
needs_go = pytest.mark.skipif(not HAS_GO, reason="the test of Python shows the same of its clock")
PROGRAMS = ["python", "shell", pytest.param("go", marks=needs_go)]
DEADLINE_S = 20
NEAR_NS = SECOND_NS // 10


class Node:
    """A node of this machine, its clock and its report."""

    def __init__(self, directory, words):
        self.host = LocalHost(directory, {})
        self.clock = NodeClock(self.host, writes_file=False)
        self.report = FileReport(self.host, wall_clock, directory)
        self.words = words

    async def start(self):
        await self.host.start()
        await self.clock.follow_start()

    async def __aenter__(self):
        await self.host.deploy(Deployment(command=self.words))
        await self.start()
        await self.reports(lambda offset_ns: abs(offset_ns) < NEAR_NS)
        return self

    async def __aexit__(self, *reason):
        await self.clock.still()
        await self.host.kill()

    async def reports(self, holds):
        """Wait for a report that fulfils a condition, and return it."""
        deadline = time.monotonic() + DEADLINE_S
        while (offset_ns := await self.report.offset()) is None or not holds(offset_ns):
            assert time.monotonic() < deadline, offset_ns
            await asyncio.sleep(0.01)
        return offset_ns

    async def is_at(self, offset_ns):
        await self.reports(lambda found_ns: abs(found_ns - offset_ns) < NEAR_NS)


def run(tmp_path, kind, steps):
    """Run steps with a node of a program; the steps may be repeated for the same report."""
    folder = tmp_path / "node"
    folder.mkdir()

    async def whole():
        async with Node(folder, command(kind, tmp_path)) as node:
            await steps(node)

    asyncio.run(whole())


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_shift_a_strobe_and_a_drift_move_the_clock_and_heal(tmp_path, kind):
    async def steps(node):
        for offset_ns in (-45 * SECOND_NS, 12_500_000_000):
            await node.clock.shift(offset_ns)
            await node.is_at(offset_ns)
        await node.clock.shift(0)
        await node.is_at(0)
        await node.clock.strobe(30 * SECOND_NS, 70_000_000)
        for offset_ns in (30 * SECOND_NS, 0, 30 * SECOND_NS):
            await node.is_at(offset_ns)
        await node.clock.strobe(0, 1)
        await node.is_at(0)
        await node.clock.drift(-500_000)
        first = await node.reports(lambda found_ns: found_ns < -NEAR_NS)
        await node.reports(lambda found_ns: found_ns < first - NEAR_NS)
        await node.clock.drift(0)
        await node.is_at(0)

    run(tmp_path, kind, steps)


def test_a_node_that_starts_again_has_the_shifted_clock(tmp_path):
    async def steps(node):
        await node.clock.shift(20 * SECOND_NS)
        await node.is_at(20 * SECOND_NS)
        await node.host.kill()
        (node.host.directory / "wall.txt").unlink()
        await node.start()
        await node.is_at(20 * SECOND_NS)
        await node.clock.shift(0)
        await node.is_at(0)

    run(tmp_path, "python", steps)


LATER = """
import subprocess, sys, time
while not __import__("os").path.exists("go"):
    time.sleep(0.01)
subprocess.run(sys.argv[1:])
"""


def test_a_program_that_a_node_starts_while_its_clock_is_shifted_is_moved(tmp_path):
    folder = tmp_path / "node"
    folder.mkdir()
    python = command("python", tmp_path)

    async def whole():
        node = Node(folder, (python[0], "-c", LATER, *python))
        await node.host.deploy(Deployment(command=node.words))
        await node.start()
        try:
            await node.clock.shift(20 * SECOND_NS)
            (folder / "go").touch()
            await node.is_at(20 * SECOND_NS)
            assert len(family_of(node.host.process.pid)) == 2
        finally:
            await node.clock.still()
            await node.host.kill()

    asyncio.run(whole())


def test_a_paused_node_stays_paused_and_goes_on_with_the_shifted_clock(tmp_path):
    async def steps(node):
        await node.host.pause()
        await node.clock.shift(20 * SECOND_NS)
        assert await node.host.is_paused()
        node.host.process.resume()
        await node.is_at(20 * SECOND_NS)

    run(tmp_path, "python", steps)


def test_a_pause_waits_until_the_process_goes_on_again(tmp_path):
    async def steps(node):
        async def pause():
            async with node.clock.lock:
                await node.host.pause()

        await asyncio.gather(node.clock.shift(20 * SECOND_NS), pause())
        assert await node.host.is_paused()
        os.kill(node.host.process.pid, signal.SIGCONT)
        assert state_of(node.host.process.pid) != "T"

    run(tmp_path, "python", steps)


def test_a_drift_has_the_process_before_it_is_off(tmp_path):
    """Its offset begins with 0; a strobe may be at 0 when a node starts again."""

    async def steps(node):
        await node.clock.drift(500_000)
        await node.reports(lambda found_ns: found_ns > 0)
        known = node.clock._processes._clocks
        assert list(known) == [node.host.process.pid]

    run(tmp_path, "python", steps)


def test_a_write_that_fails_does_not_keep_a_healed_movement(tmp_path, monkeypatch):
    async def steps(node):
        begun = asyncio.Event()

        async def fail():
            begun.set()
            await asyncio.sleep(0.05)
            raise ClusterError("the engine is gone")

        await node.clock.strobe(SECOND_NS, 20_000_000)
        (task,) = (one.task for one in node.clock._movements.values())
        with monkeypatch.context() as patch:
            patch.setattr(node.host, "local_processes", fail)
            await begun.wait()
            task.cancel()
            await asyncio.sleep(0.2)
        assert task.done()

    run(tmp_path, "python", steps)


def test_a_node_that_is_down_is_no_error(tmp_path):
    async def steps(node):
        await node.host.kill()
        await node.clock.shift(20 * SECOND_NS)
        await node.clock.follow_start()
        assert await node.clock.lack() is None

    run(tmp_path, "python", steps)
