"""The owner of a connection to a proxy of the mesh, found in one pass for all that wait."""

import asyncio
import os
import socket
from contextlib import ExitStack

import pytest

from kraftproof.cluster.local.mesh.owner import Owners, owners

SELF, ABSENT = 3, 4
MOST_PID = 1 << 22


def connected(stack: ExitStack, count: int) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Open connections to a listener of this process; return both ends of each."""
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=count))
    opened = [
        stack.enter_context(socket.create_connection(listener.getsockname())) for _ in range(count)
    ]
    return [(one.getsockname(), one.getpeername()) for one in opened]


def test_each_connection_has_the_node_of_its_process() -> None:
    with ExitStack() as stack:
        connections = connected(stack, 3)
        processes = {SELF: [os.getpid()], ABSENT: [MOST_PID + 1]}
        assert owners(connections, processes) == dict.fromkeys(connections, SELF)
        assert owners(connections, {ABSENT: [MOST_PID + 1]}) == dict.fromkeys(connections)
        nobody = (("127.0.0.1", 1), connections[0][1])
        assert owners([nobody, connections[0]], processes) == {nobody: None, connections[0]: SELF}


def test_connections_that_wait_together_cost_two_passes() -> None:
    passes = 0

    def processes() -> dict[int, list[int]]:
        nonlocal passes
        passes += 1
        return {SELF: [os.getpid()]}

    async def main() -> list[int | None]:
        found = Owners(processes)
        with ExitStack() as stack:
            connections = connected(stack, 50)
            return await asyncio.gather(*(found.find(*ends) for ends in connections))

    assert asyncio.run(main()) == [SELF] * 50
    assert passes <= 2


def test_a_pass_that_fails_ends_the_connections_that_wait() -> None:
    def processes() -> dict[int, list[int]]:
        raise RuntimeError("no processes")

    async def main() -> None:
        found = Owners(processes)
        ends = ("127.0.0.1", 1), ("127.0.0.1", 2)
        with pytest.raises(RuntimeError, match="no processes"):
            await found.find(*ends)

    asyncio.run(main())
