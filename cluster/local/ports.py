"""Ports on loopback, leased to one run each, so that runs side by side do not collide."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from kraftproof.cluster.local.ownership import (
    RunFile,
    locked,
    read_runs,
    remove_run,
    write_run,
)
from kraftproof.cluster.processes import identify, is_alive
from kraftproof.cluster.protocol import ClusterError

LOOPBACK = "127.0.0.1"
FIRST_PORT = 21_000
LAST_PORT = 31_999
"""Below the range from which the kernel takes ports for outgoing connections."""


def lease(run: str, directory: Path, count: int) -> RunFile:
    """Lease ports for a run of this process, and write its file.

    Raises:
        ClusterError: too few ports are free.
    """
    owner = identify(os.getpid())
    assert owner is not None, "this process runs"
    with locked() as state:
        taken = {port for run_ in read_runs(state) if is_alive(run_.owner) for port in run_.ports}
        ports = _free(state, taken, count)
        if len(ports) < count:
            raise ClusterError(
                f"{count} free ports wanted between {FIRST_PORT} and {LAST_PORT}, "
                f"{len(ports)} are there"
            )
        leased = RunFile(run=run, directory=str(directory), owner=owner, ports=ports)
        write_run(state, leased)
    return leased


def update(run: RunFile) -> None:
    """Write what a run holds now."""
    with locked() as state:
        write_run(state, run)


def release(run: RunFile) -> None:
    """Give everything back."""
    with locked() as state:
        remove_run(state, run.run)


def _free(state: Path, taken: set[int], count: int) -> tuple[int, ...]:
    found: list[int] = []
    for port in in_order(state):
        if len(found) == count:
            break
        if port not in taken and can_bind(port):
            found.append(port)
    return tuple(found)


def in_order(state: Path) -> Iterator[int]:
    """Yield all ports, from another one on for each directory of leases.

    What others lease, another user or with another XDG_RUNTIME_DIR, is not seen here: they would
    take the port of a node that is down for a while, and it could not start again.
    """
    count = LAST_PORT - FIRST_PORT + 1
    first = crc32(os.fsencode(state)) % count
    for place in range(count):
        yield FIRST_PORT + (first + place) % count


def can_bind(port: int, host: str = LOOPBACK) -> bool:
    """Return whether a node could listen on a port of loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
