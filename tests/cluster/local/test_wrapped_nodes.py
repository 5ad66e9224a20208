"""A node that is a shell around the server: a fault reaches the server, and nothing is left."""

import asyncio
import shlex
import sys
import time
from pathlib import Path

import pytest

from kraftproof.cluster.local.process import LocalProcess
from kraftproof.cluster.processes import state_of
from kraftproof.cluster.systems.deployment import Deployment

SERVER = "import os, time; print(os.getpid(), flush=True); time.sleep(300)"
COMMANDS = {
    "pipe": "{} | cat",
    "wait": "{} & wait",
    "daemon": "{} & exit 0",
}
DEADLINE_S = 20


def until(condition, what):
    """Wait for a condition, and fail with `what` at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def is_gone(pid):
    return state_of(pid) in {None, "Z", "X"}


async def started(directory, shape):
    """Start a node, and return its process and the id of the server behind the shell."""
    server = shlex.join((sys.executable, "-c", SERVER))
    process = LocalProcess(directory)
    await process.start(Deployment(command=("sh", "-c", COMMANDS[shape].format(server))))
    output = Path(directory, "output.log")
    until(lambda: output.read_text().endswith("\n"), "the server has not started")
    return process, int(output.read_text())  # noqa: ASYNC240 - a short file


@pytest.mark.parametrize("shape", COMMANDS)
def test_a_kill_ends_the_server_behind_a_shell(tmp_path, shape):
    async def whole():
        process, server = await started(tmp_path, shape)
        await process.kill()
        return server

    server = asyncio.run(whole())
    until(lambda: is_gone(server), "the server goes on")


def test_a_stop_leaves_no_server_behind(tmp_path):
    async def whole():
        process, server = await started(tmp_path, "wait")
        await process.terminate(15)
        return server

    server = asyncio.run(whole())
    until(lambda: is_gone(server), "the server goes on")


def test_a_pause_stops_the_server_behind_a_shell(tmp_path):
    async def whole():
        process, server = await started(tmp_path, "wait")
        try:
            await process.pause()
            until(lambda: state_of(server) == "T", "the server goes on")
            process.resume()
            until(lambda: state_of(server) in {"S", "R"}, "the server stays stopped")
        finally:
            await process.kill()

    asyncio.run(whole())
