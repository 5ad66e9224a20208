"""The harness's end of a node's disk: starts the disk's process and sends commands.

A disk lies over a data directory of a node, on the machine of the run directory: a container's bind
mount and a local process find the same mount. See server.py for the process.
"""

import asyncio
import contextlib
import functools
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.processes import identify
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.disk import server
from kraftproof.cluster.remote.disk.mounts import DEVICE, source_of
from kraftproof.images.folders import owned_folder

ANSWER_S: Final = 10.0
ANSWER_BYTES: Final = 1 << 24
"""Largest answer of a disk's process."""


class NodeDisk:
    """The disk of a data directory of a node."""

    def __init__(self, directory: Path, report: Path, seed: str, origin_ns: int) -> None:
        self._directory = directory
        self._command = _command(directory, report, seed, origin_ns)
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def mount(self) -> None:
        """Mount the disk over its directory.

        Raises:
            ClusterError: the mount failed.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=ANSWER_BYTES,
            start_new_session=True,
        )
        try:
            await self._answer()
        except BaseException:
            await self.unmount()
            raise

    async def unmount(self) -> None:
        """Remove the disk; the files stay as written."""
        process = self._process
        if process is None or process.stdin is None:
            return
        self._process = None
        process.stdin.close()
        try:
            async with asyncio.timeout(ANSWER_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def add(self, fault: DiskFault) -> None:
        """Add a fault, in addition to present faults."""
        await self._ask("add", fault=asdict(fault))

    async def remove(self, fault: DiskFault) -> None:
        """Undo one `add`; without a matching call, do nothing."""
        await self._ask("remove", fault=asdict(fault))

    async def state(self) -> dict[str, Any]:
        """Return the counts of operations and of unsynced bytes."""
        return await self._ask("state")

    async def settle(self, until_ns: int) -> None:
        """Make all changes up to a time on the monotonic clock durable."""
        await self._ask("settle", until_ns=until_ns)

    async def lose(self) -> int:
        """Lose unsynced writes, once the node is dead; return the number of bytes."""
        return int((await self._ask("lose"))["lost"])

    async def _ask(self, do: str, **arguments: object) -> dict[str, Any]:
        async with self._turn:
            if self._process is None or self._process.stdin is None:
                raise ClusterError(f"disk {self._directory}: is not mounted")
            command = json.dumps({"do": do, **arguments}).encode()
            with contextlib.suppress(ConnectionError):
                self._process.stdin.write(command + b"\n")
                await self._process.stdin.drain()
            return await self._answer()

    async def _answer(self) -> dict[str, Any]:
        process = self._process
        assert process is not None, "the process was started"
        assert process.stdout is not None, "a pipe"
        try:
            async with asyncio.timeout(ANSWER_S):
                line = await process.stdout.readline()
        except TimeoutError:
            raise ClusterError(f"disk {self._directory}: no answer in {ANSWER_S:g} s") from None
        if not line:
            raise ClusterError(f"disk {self._directory}: {await self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _last_words(self) -> str:
        assert self._process is not None, "the process was started"
        assert self._process.stderr is not None, "a pipe"
        said = (await self._process.stderr.read()).decode(errors="replace").strip()
        return said.splitlines()[-1] if said else "its process has ended"


@functools.cache
def unusable() -> str | None:
    """Return why this machine can mount no disk; None after a successful trial."""
    if not Path(DEVICE).exists():
        return f"there is no {DEVICE} on this machine"
    if os.geteuid():
        return f"a file system is mounted over the nodes' data through {DEVICE}: that needs root"
    with owned_folder("disk") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        return _try(data)


def _try(data: Path) -> str | None:
    """Mount a disk, write a file without an fsync, and let the disk lose it."""
    process = subprocess.Popen(
        _command(data, data.with_name("report"), "a write that is lost", 0),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        assert process.stderr is not None, "a pipe"
        if not process.stdout.readline():
            said = process.stderr.read().decode(errors="replace").strip()
            return said.splitlines()[-1] if said else "its process has ended"
        (data / "unsynced").write_bytes(b"unsynced")
        process.stdin.write(b'{"do": "lose"}\n')
        process.stdin.flush()
        report = json.loads(process.stdout.readline() or b"{}")
        lost = not (data / "unsynced").exists()
        process.stdin.close()
    return None if lost and report.get("lost") else "a mounted disk kept what was not synced"


def _command(directory: Path, report: Path, seed: str, origin_ns: int) -> list[str]:
    owner = identify(os.getpid())
    assert owner is not None, "this process runs"
    words = [str(directory), str(report), source_of(owner), seed, str(origin_ns)]
    return [sys.executable, "-m", server.__name__, *words]
