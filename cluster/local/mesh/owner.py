"""Which process has opened a TCP connection to this machine, by the kernel's tables in /proc."""

import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

Ends = tuple[str, int]
"""Address and port of an end of a connection."""
MAPPED = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the table of IPv6 connections."""
LOCAL, REMOTE, INODE = 1, 2, 9
"""Columns of the tables."""


def owner(opener: Ends, accepted: Ends, processes: Mapping[int, Iterable[int]]) -> int | None:
    """Return the node whose processes opened a connection, or None for another program.

    Args:
        opener: The end that opened the connection.
        accepted: The end that accepted the connection.
        processes: The process ids of each node; their children count as well.
    """
    inode = _inode(opener, accepted)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for node_id, pids in processes.items():
        if any(_has(pid, wanted) for pid in pids):
            return node_id
    for node_id, pids in processes.items():
        if any(_has(pid, wanted) for pid in _children(set(pids))):
            return node_id
    return None


def _inode(opener: Ends, accepted: Ends) -> str | None:
    words = (_hex(opener), _hex(accepted))
    for table, prefix in (("tcp", ""), ("tcp6", MAPPED)):
        with suppress(OSError), Path(f"/proc/net/{table}").open(encoding="ascii") as lines:
            for line in lines:
                columns = line.split()
                if columns[LOCAL] == prefix + words[0] and columns[REMOTE] == prefix + words[1]:
                    return columns[INODE]
    return None


def _hex(end: Ends) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(end[0]))
    return f"{number:08X}:{end[1]:04X}"


def _has(pid: int, wanted: str) -> bool:
    try:
        return any(str(entry.readlink()) == wanted for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _children(sessions: set[int]) -> Iterator[int]:
    """Yield the processes of some sessions; each node leads a session of its own."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, IndexError):
                text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                if int(text.rpartition(")")[2].split()[3]) in sessions:
                    yield int(entry.name)
