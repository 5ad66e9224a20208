"""A process of this machine in the network of a pod, which ends with the harness."""

import asyncio
import os
import sys
import tempfile
from typing import IO, Final

from kraftproof.cluster.local import launch
from kraftproof.cluster.plugin import shortened

READ_BYTES: Final = 4096


class PodProcess:
    """A process, and a file without a name that takes its output."""

    __slots__ = ("_output", "_process")

    def __init__(self, process: asyncio.subprocess.Process, output: IO[bytes]) -> None:
        self._process = process
        self._output = output

    @classmethod
    async def start(cls, entry: tuple[str, ...], command: tuple[str, ...]) -> "PodProcess":
        """Start a command with the words that enter a network before it."""
        launcher = (sys.executable, "-I", "-S", launch.__file__, str(os.getpid()))
        output = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        try:
            process = await asyncio.create_subprocess_exec(
                *entry,
                *launcher,
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except BaseException:
            output.close()
            raise
        return cls(process, output)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status, minus a signal; None while the process runs."""
        return self._process.returncode

    def last_line(self) -> str:
        """Return the last line that the process has printed."""
        descriptor = self._output.fileno()
        size = os.fstat(descriptor).st_size
        read = os.pread(descriptor, READ_BYTES, max(0, size - READ_BYTES))
        lines = read.decode("utf-8", "replace").strip().splitlines()
        return shortened(lines[-1]) if lines else "nothing printed"

    async def end(self) -> None:
        """Kill the process, and wait for its end."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        self._output.close()
