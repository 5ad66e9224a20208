"""Ownership of processes and ports on this machine: a locked file for each run, of the user.

An owner is (boot id, pid, start time), which no later process shares. A run's file names its
owner, its ports and its processes; a sweep ends the processes of dead owners and removes their
files. Not: containers, which carry their owner in labels.
"""

import fcntl
import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
START_TIME_FIELD = 19
"""Index of the field in /proc/PID/stat after the closing bracket of the command, from 0."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A process, unique over restarts of the machine and reuse of process ids."""

    boot: str
    pid: int
    start_time: int


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """The processes and directories of a run on this machine."""

    run: str
    directory: str
    owner: Identity
    ports: tuple[int, ...] = ()
    processes: tuple[Identity, ...] = ()


def identify(pid: int) -> Identity | None:
    """Return the identity of a running process; None if there is none of that id."""
    start_time = _start_time(pid)
    if start_time is None:
        return None
    return Identity(boot=BOOT_ID.read_text().strip(), pid=pid, start_time=start_time)


def is_alive(identity: Identity) -> bool:
    """Return whether exactly this process still runs."""
    return identify(identity.pid) == identity


def state_of(pid: int) -> str | None:
    """Return the state letter of a process (T is stopped); None if it is gone."""
    fields = _stat_fields(pid)
    return fields[0] if fields else None


def _start_time(pid: int) -> int | None:
    fields = _stat_fields(pid)
    if not fields or fields[0] in {"Z", "X"}:
        return None
    return int(fields[START_TIME_FIELD])


def _stat_fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def runtime_directory() -> Path:
    """Return the directory of this user's run files, made if need be, closed to others."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base:
        directory = Path(base) / "kraftproof"
    else:
        directory = Path(tempfile.gettempdir()) / f"kraftproof-{os.getuid()}"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{directory}: must belong to you alone (mode 700)")
    return directory


@contextmanager
def locked() -> Iterator[Path]:
    """Hold the lock over all run files; yields their directory."""
    directory = runtime_directory()
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory


def read_runs(directory: Path) -> list[RunFile]:
    """Return the run files of a locked directory; one that can't be read is removed."""
    runs = []
    for path in sorted(directory.glob("*.json")):
        try:
            runs.append(msgspec.json.decode(path.read_bytes(), type=RunFile))
        except msgspec.DecodeError:
            path.unlink()
    return runs


def write_run(directory: Path, run: RunFile) -> None:
    """Write a run's file in a locked directory."""
    temporary = directory / f"{run.run}.new"
    temporary.write_bytes(msgspec.json.encode(run))
    temporary.replace(directory / f"{run.run}.json")


def remove_run(directory: Path, run: str) -> None:
    """Remove a run's file from a locked directory."""
    (directory / f"{run}.json").unlink(missing_ok=True)


def sweep() -> list[str]:
    """End the processes of dead owners and forget their runs; return a line for each run."""
    lines = []
    with locked() as directory:
        for run in read_runs(directory):
            if is_alive(run.owner):
                continue
            ended = sum(_end(process) for process in run.processes)
            remove_run(directory, run.run)
            lines.append(f"local run {run.run}: owner {run.owner.pid} is gone, {ended} ended")
    return lines


def _end(process: Identity) -> bool:
    """Kill exactly this process, if it still runs."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        # The handle is of whoever has the pid now; only then is its identity compared.
        if not is_alive(process):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True
