"""The folder of a process in /proc, opened once: no later process with the same id takes its place.

Each call raises ProcessLookupError once the process has ended.
"""

import os
import signal
from typing import Final

READ_BYTES: Final = 1 << 20
"""Most bytes of a file of /proc that are read."""


class ProcFolder:
    """The open folder of a process."""

    __slots__ = ("_descriptor", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._descriptor = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise ProcessLookupError(f"process {pid} has ended") from None

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """Open a file of the folder; return its descriptor.

        Raises:
            PermissionError: the process belongs to another user, or the kernel protects it.
        """
        try:
            return os.open(name, flags | os.O_CLOEXEC, dir_fd=self._descriptor)
        except FileNotFoundError:
            raise ProcessLookupError(f"process {self.pid} has ended") from None

    def read(self, name: str) -> str:
        """Return the text of a file."""
        with os.fdopen(self.open(name), "rb") as file:
            return file.read(READ_BYTES).decode(errors="replace")

    def threads(self) -> list[str]:
        """Return the ids of all threads, in order."""
        descriptor = self.open("task", os.O_RDONLY | os.O_DIRECTORY)
        try:
            return sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)

    def state(self, thread: str) -> str:
        """Return the state letter of a thread: R, S, D, T and others; X for a thread that ended."""
        try:
            return self.read(f"task/{thread}/stat").rpartition(")")[2].split()[0]
        except (ProcessLookupError, IndexError):
            return "X"

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process."""
        signal.pidfd_send_signal(self._descriptor, number)

    def close(self) -> None:
        """Close the folder."""
        os.close(self._descriptor)
