"""One node's process: started in a group of its own, signalled by its own id only."""

import asyncio
import os
import signal
import sys

from kraftproof.cluster.local.node_directory import NodeDirectory
from kraftproof.cluster.local.ownership import Identity, identify, state_of
from kraftproof.cluster.protocol import ClusterError

TERMINATE_S = 10.0
STOP_S = 5.0
LOOK_S = 0.001


class LocalProcess:
    """The process of a node, or none."""

    __slots__ = ("_directory", "_mutant", "_process")

    def __init__(self, directory: NodeDirectory, mutant: str | None) -> None:
        self._directory = directory
        self._mutant = mutant
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def is_paused(self) -> bool:
        """Whether the operating system has it stopped."""
        return self.pid is not None and state_of(self.pid) == "T"

    @property
    def identity(self) -> Identity | None:
        """Who it is among all processes, while it runs."""
        return None if self.pid is None else identify(self.pid)

    async def start(self) -> None:
        """Start it; a node that runs already is left alone."""
        if self.pid is not None:
            return
        properties = str(self._directory.properties)
        if self._mutant is None:
            module = ["kraftproof.node.server.main", properties]
        else:
            module = ["mutants", self._mutant, "--", properties]
        parent = str(os.getpid())
        with self._directory.output.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kraftproof.cluster.local.launch", parent, *module),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    async def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self._process is not None and self.pid is not None:
            self._process.kill()
            await self._process.wait()

    async def terminate(self) -> None:
        """SIGTERM, and wait for the end; SIGKILL after ten seconds."""
        if self._process is None or self.pid is None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(TERMINATE_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def pause(self) -> None:
        """SIGSTOP, and wait until the process has stopped: a signal takes effect some time after.

        Raises:
            ClusterError: it does not run, or has not stopped in five seconds.
        """
        self._signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(STOP_S):
                while self.pid is not None and not self.is_paused:  # noqa: ASYNC110 nobody tells
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            name = self._directory.path.name
            raise ClusterError(f"{name}: not stopped {STOP_S:g} s after SIGSTOP") from None

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None or self.pid is None:
            raise ClusterError(f"{self._directory.path.name}: not running, no {number.name}")
        self._process.send_signal(number)


async def format_storage(directory: NodeDirectory, cluster_id: str) -> None:
    """Format a node's disk.

    Raises:
        ClusterError: kraft-storage refused.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kraftproof.node.tools.storage", "format"),
        *("-c", str(directory.properties), "-t", cluster_id),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode != 0:
        last = output.decode(errors="replace").strip().splitlines() or ["no output"]
        raise ClusterError(f"formatting {directory.path}: {last[-1]}")
