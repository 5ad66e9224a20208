"""Which process has opened a TCP connection to this machine, by the kernel's tables in /proc."""

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain

Ends = tuple[str, int]
"""Address and port of an end of a connection."""
Processes = Callable[[], Mapping[int, Iterable[int]]]
"""Returns the process ids of each node now."""
MAPPED = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the table of IPv6 connections."""
INODE = 9
"""Column of the tables."""


class Owners:
    """Finds the owners of new connections, of all that wait in one pass over the processes.

    A pass takes some milliseconds with the hundreds of files of a JVM. With a pass for each
    connection, nodes that opened connections faster than that, after a pause of their leader for
    example, got none any more: each gave up before its turn, and tried again.
    """

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._waiting: dict[tuple[Ends, Ends], asyncio.Future[int | None]] = {}
        self._pass: asyncio.Task[None] | None = None

    async def find(self, opener: Ends, accepted: Ends) -> int | None:
        """Return the node whose processes opened a connection, or None for another program.

        Args:
            opener: The end that opened the connection.
            accepted: The end that accepted the connection.
        """
        future: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._waiting[opener, accepted] = future
        if self._pass is None or self._pass.done():
            self._pass = asyncio.create_task(self._look())
        return await future

    def end(self) -> None:
        """End the pass under way."""
        if self._pass is not None:
            self._pass.cancel()

    async def _look(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, {}
            try:
                found = await asyncio.to_thread(owners, list(waiting), self._processes())
            except Exception as error:  # noqa: BLE001 - the connections that wait end with the error
                for future in waiting.values():
                    if not future.done():
                        future.set_exception(error)
                continue
            for connection, future in waiting.items():
                if not future.done():
                    future.set_result(found[connection])


def owners(
    connections: Sequence[tuple[Ends, Ends]], processes: Mapping[int, Iterable[int]]
) -> dict[tuple[Ends, Ends], int | None]:
    """Return the node whose processes opened each connection, or None for another program.

    Args:
        connections: The end that opened each connection, and the end that accepted it.
        processes: The process ids of each node; their children count as well.
    """
    sockets = dict(zip(connections, _sockets(connections), strict=True))
    wanted = set(sockets.values()) - {None}
    own = {pid: node_id for node_id, pids in processes.items() for pid in pids}
    found: dict[str | None, int] = {}
    for pid, node_id in chain(own.items(), _children(own)):
        if len(found) == len(wanted):
            break
        found |= dict.fromkeys(_held(pid, wanted - found.keys()), node_id)
    return {connection: found.get(held) for connection, held in sockets.items()}


def _sockets(connections: Iterable[tuple[Ends, Ends]]) -> Iterator[str | None]:
    """Yield the socket of the opener of each connection, as the files of a process name it."""
    tables = []
    for table, prefix in (("tcp", ""), ("tcp6", MAPPED)):
        with suppress(OSError), open(f"/proc/net/{table}", "rb") as file:
            tables.append((file.read(), prefix))
    for opener, accepted in connections:
        ends = _hex(opener), _hex(accepted)
        inodes = (_inode(held, f" {prefix}{ends[0]} {prefix}{ends[1]} ") for held, prefix in tables)
        inode = next(filter(None, inodes), None)
        yield None if inode is None else f"socket:[{inode}]"


def _inode(held: bytes, ends: str) -> str | None:
    place = held.find(ends.encode())
    if place < 0:
        return None
    line = held[held.rfind(b"\n", 0, place) + 1 : held.find(b"\n", place)]
    return line.split()[INODE].decode()


def _hex(end: Ends) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(end[0]))
    return f"{number:08X}:{end[1]:04X}"


def _held(pid: int, wanted: Set[str | None]) -> Iterator[str]:
    """Yield the wanted sockets of a process; without pathlib, since a JVM has hundreds of files."""
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):  # closed meanwhile
                if (held := os.readlink(f"{folder}/{name}")) in wanted:
                    yield held


def _children(own: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the other processes of the sessions of some processes, each with its node."""
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) not in own:
            with suppress(OSError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    text = file.read()
                leader = int(text.rpartition(b")")[2].split()[3])
                if leader in own:
                    yield int(name), own[leader]
