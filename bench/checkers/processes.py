"""Runs one side's process under limits of time and memory, and measures its memory from outside.

Memory is that of the process and its children, looked at every 20 ms, and what the kernel noted as
the process's peak since the check began.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_LOOK_S: Final = 0.02
_READY_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one check may cost."""

    seconds: float
    memory_bytes: int


class ExceededError(Exception):
    """A limit was reached, or the process died; the message is a word for the table.

    Attributes:
        grown_bytes: by how much its memory had grown.
    """

    def __init__(self, word: str, grown_bytes: int = 0) -> None:
        super().__init__(word)
        self.grown_bytes = grown_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One check.

    Attributes:
        seconds: as the process itself measured them.
        invalid: how many histories it says are invalid.
        unknown: number of histories without a verdict.
        grown_bytes: the peak of its memory above what it had before.
        peak_bytes: the peak.
    """

    seconds: float
    invalid: int
    unknown: int
    grown_bytes: int
    peak_bytes: int


class Worker:
    """A process that keeps histories in memory, and checks on request."""

    def __init__(self, command: Sequence[str], cwd: Path, limits: Limits) -> None:
        self._limits = limits
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._replies = selectors.DefaultSelector()
        self._replies.register(self._process.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        try:
            self._reply(_READY_S)
        except ExceededError:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def check(self, *, is_first: bool = False) -> Checked:
        """Makes one check; the first one may have code to compile and is given more time.

        Raises:
            ExceededError: a limit was reached, or the process died; it is gone then.
        """
        before = _memory(self._process.pid)
        with contextlib.suppress(OSError):
            Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"check\n")
            self._process.stdin.flush()
            reply, looked = self._reply(_READY_S if is_first else self._limits.seconds, before)
        except ExceededError:
            self.kill()
            raise
        except BrokenPipeError as error:
            raise ExceededError(_why(self._process)) from error
        peak = max(looked, _status(self._process.pid, "VmHWM"))
        return Checked(
            seconds=float(reply["seconds"]),
            invalid=int(reply["invalid"]),
            unknown=int(reply.get("unknown", 0)),
            grown_bytes=max(peak - before, 0),
            peak_bytes=peak,
        )

    def kill(self) -> None:
        """Ends the process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._replies.close()

    def _reply(self, seconds: float, before: int = 0) -> tuple[dict[str, float], int]:
        """Returns the next reply, and the most memory that was seen until it came."""
        assert self._process.stdout is not None
        ends, most = time.monotonic() + seconds, 0
        while not self._replies.select(timeout=_LOOK_S):
            most = max(most, _memory(self._process.pid))
            if most > self._limits.memory_bytes:
                raise ExceededError("OOM", most - before)
            if time.monotonic() > ends:
                raise ExceededError("?", most - before)
        line = self._process.stdout.readline()
        if not line:
            raise ExceededError(_why(self._process))
        reply: dict[str, float] = json.loads(line)
        return reply, max(most, _memory(self._process.pid))


def whole_output(
    command: Sequence[str], cwd: Path, limits: Limits, codes: Container[int] = (0,)
) -> tuple[float, str]:
    """Return the duration of a command and its output.

    Args:
        command: the command; its input is one line.
        cwd: where it runs.
        limits: what it may cost.
        codes: the exit codes that are no failure.

    Raises:
        ExceededError: a limit was reached, or the command failed.
    """
    with tempfile.TemporaryFile() as output:
        started = time.monotonic()
        with subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            _tell(process)
            _await_end(process, started, limits)
            seconds = time.monotonic() - started
            process.wait()
            if process.returncode not in codes:
                raise ExceededError(_why(process))
        output.seek(0)
        return seconds, output.read().decode()


def _tell(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it may end, well or not, before it reads a line
        process.stdin.write(b"check\n")
        process.stdin.close()


def _await_end(process: subprocess.Popen[bytes], started: float, limits: Limits) -> None:
    """Waits for a process and kills it at a limit; it is known at once when it ends."""
    with selectors.DefaultSelector() as ended, open(os.pidfd_open(process.pid), "rb") as handle:
        ended.register(handle, selectors.EVENT_READ)
        while not ended.select(timeout=_LOOK_S):
            is_slow = time.monotonic() - started > limits.seconds
            if is_slow or _memory(process.pid) > limits.memory_bytes:
                os.killpg(process.pid, signal.SIGKILL)
                raise ExceededError("?" if is_slow else "OOM")


def _why(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said = process.stderr.read().decode(errors="replace").strip().splitlines()
    return said[-1] if said else "died"


def _memory(pid: int) -> int:
    """Returns the bytes resident in a process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return _status(pid, "VmRSS") + sum(_memory(int(child)) for child in children)


def _status(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = next((line for line in lines if line.startswith(name)), f"{name}: 0 kB")
    return int(found.split()[1]) * 1024
