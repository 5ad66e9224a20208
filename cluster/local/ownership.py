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

from kraftproof.cluster.processes import Identity, is_alive


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """The processes and directories of a run on this machine."""

    run: str
    directory: str
    owner: Identity
    ports: tuple[int, ...] = ()
    processes: tuple[Identity, ...] = ()


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
