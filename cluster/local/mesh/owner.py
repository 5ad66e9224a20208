"""Which process has opened a TCP connection to this machine, by the kernel's tables in /proc."""

import os
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

Ends = tuple[str, int]
"""Address and port of an end of a connection."""
MAPPED = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the table of IPv6 connections."""
INODE = 9
"""Column of the tables."""


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
    own = {pid: node_id for node_id, pids in processes.items() for pid in pids}
    return next((own[leader] for pid, leader in _children(own) if _has(pid, wanted)), None)


def _inode(opener: Ends, accepted: Ends) -> str | None:
    ends = f"{_hex(opener)} ", f"{_hex(accepted)} "
    for table, prefix in (("tcp", ""), ("tcp6", MAPPED)):
        try:
            with open(f"/proc/net/{table}", "rb") as file:
                held = file.read()
        except OSError:
            continue
        place = held.find(f" {prefix}{ends[0]}{prefix}{ends[1]}".encode())
        if place >= 0:
            line = held[held.rfind(b"\n", 0, place) + 1 : held.find(b"\n", place)]
            return line.split()[INODE].decode()
    return None


def _hex(end: Ends) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(end[0]))
    return f"{number:08X}:{end[1]:04X}"


def _has(pid: int, wanted: str) -> bool:
    """Return whether a process holds a socket; without pathlib, since a JVM has hundreds of files.

    Each new connection is looked up, and a lookup of 50 ms let a storm of connections starve.
    """
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                if os.readlink(f"{folder}/{name}") == wanted:
                    return True
    except OSError:
        return False
    return False


def _children(sessions: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the other processes of some sessions, each with its leader: that of a node."""
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) not in sessions:
            with suppress(OSError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    text = file.read()
                leader = int(text.rpartition(b")")[2].split()[3])
                if leader in sessions:
                    yield int(name), leader
