"""A process of this machine in the network of a pod, which ends with the harness."""

import asyncio
import os
import sys

from kraftproof.cluster.local import launch


class PodProcess:
    """A running process."""

    __slots__ = ("_process",)

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, entry: tuple[str, ...], command: tuple[str, ...]) -> "PodProcess":
        """Start a command with the words that enter a network before it."""
        launcher = (sys.executable, "-I", "-S", launch.__file__, str(os.getpid()))
        process = await asyncio.create_subprocess_exec(
            *entry,
            *launcher,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def end(self) -> None:
        """Kill the process, and wait for its end."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
