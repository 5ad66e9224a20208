"""One node's process: started in a session and a group of its own, signalled as this group.

The command of a node may be a shell around the server, so that a signal has to reach the server,
too. An orderly stop asks the command alone, as an engine of containers does.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from kraftproof.cluster.local import launch
from kraftproof.cluster.plugin import shown
from kraftproof.cluster.processes import Identity, identify, session_of, state_of
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.output import OUTPUT_NAME, last_words
from kraftproof.cluster.systems.deployment import SET_UP_DONE, Command, Deployment

TERMINATE_S = 10.0
STOP_S = 5.0
LOOK_S = 0.001


class LocalProcess:
    """The process of a node, or none."""

    __slots__ = ("_directory", "_process")

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def exit_status(self) -> int | None:
        """The exit status of a process that has ended; the number of a signal is negative."""
        return None if self._process is None else self._process.returncode

    @property
    def is_paused(self) -> bool:
        """Return whether the operating system has it stopped."""
        return self.pid is not None and state_of(self.pid) == "T"

    @property
    def identity(self) -> Identity | None:
        """Return the identity of the running process; None while no process runs."""
        return None if self.pid is None else identify(self.pid)

    async def set_up(self, deployment: Deployment) -> None:
        """Run the set-up commands one after the other; what they print goes to the node's output.

        Raises:
            ClusterError: a command failed.
        """
        for command in deployment.setup:
            self._process = await self._spawn(command, deployment)
            status = await self._process.wait()
            if status != 0:
                said = f"{shown(command)} ended with status {status}: {last_words(self._directory)}"
                raise ClusterError(f"set-up of {self._directory}: {said}")
        (self._directory / SET_UP_DONE).touch()

    async def start(self, deployment: Deployment) -> None:
        """Start it; a node that runs already is left alone."""
        if self.pid is None:
            self._kill_rest()
            self._process = await self._spawn(deployment.command, deployment)

    async def _spawn(self, command: Command, deployment: Deployment) -> asyncio.subprocess.Process:
        launcher = (sys.executable, "-I", "-S", launch.__file__, str(os.getpid()))
        with (self._directory / OUTPUT_NAME).open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *launcher,
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._directory,
                env={**os.environ, **deployment.environment},
                start_new_session=True,
            )

    async def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        if self._process is not None and self.pid is not None:
            self._signal(signal.SIGKILL)
            await self._process.wait()
        self._kill_rest()

    async def terminate(self, number: signal.Signals) -> None:
        """Send the signal, and wait for the end; SIGKILL after ten seconds."""
        if self._process is not None and self.pid is not None:
            self._process.send_signal(number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TERMINATE_S):
                    await self._process.wait()
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
            name = self._directory.name
            raise ClusterError(f"{name}: not stopped {STOP_S:g} s after SIGSTOP") from None

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None or self.pid is None:
            raise ClusterError(f"{self._directory.name}: not running, no {number.name}")
        with contextlib.suppress(ProcessLookupError):  # asyncio has yet to notice the end
            os.killpg(self._process.pid, number)

    def _kill_rest(self) -> None:
        """End what a command that has ended left behind: processes of its session and its output.

        The output tells them from processes of a later session with the same id.
        """
        if self._process is None or self.pid is not None:
            return
        output = self._directory / OUTPUT_NAME
        for entry in Path("/proc").glob("[0-9]*"):
            pid = int(entry.name)
            if session_of(pid) == self._process.pid and _writes_to(entry, output):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _writes_to(process: Path, output: Path) -> bool:
    """Return whether the standard output or error of a process is a file."""
    for descriptor in ("1", "2"):
        with contextlib.suppress(OSError):
            if (process / "fd" / descriptor).samefile(output):
                return True
    return False
