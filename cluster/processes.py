"""Identify processes of this machine, so that a later process with the same id is another.

An identity is (boot id, pid, start time), which no later process shares.
"""

from pathlib import Path

import msgspec

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PARENT_FIELD = 1
SESSION_FIELD = 3
START_TIME_FIELD = 19
"""Indexes of fields in /proc/PID/stat after the closing bracket of the command, from 0."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A process, unique over restarts of the machine and reuse of process ids."""

    boot: str
    pid: int
    start_time: int


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


def session_of(pid: int) -> int | None:
    """Return the id of the session of a process; None if it is gone."""
    fields = _stat_fields(pid)
    return int(fields[SESSION_FIELD]) if fields else None


def family_of(pid: int) -> list[int]:
    """Return a process, its descendants, and the processes of its session; empty if it is gone."""
    parents: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        fields = _stat_fields(int(entry.name))
        if fields and fields[0] not in {"Z", "X"}:
            parents[int(entry.name)] = int(fields[PARENT_FIELD]), int(fields[SESSION_FIELD])
    family = [pid] if pid in parents else []
    known = set(family)
    for member in family:  # grows meanwhile
        found = [n for n, others in parents.items() if n not in known and member in others]
        known.update(found)
        family += found
    return family


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
