"""Connections of the harness to an address: whether somebody listens, and many at once."""

import asyncio
from contextlib import suppress

from kraftproof.cluster.protocol import Address

CONNECT_S = 1.0
CROWD = 48
"""Connections of a crowd: the kernel needs some pages for the server's ends."""
CROWD_S = 0.3
"""The time for which a crowd stays, in seconds."""


async def accepts(address: Address) -> bool:
    """Return whether a connection to the address is accepted."""
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except (TimeoutError, OSError):
        return False
    writer.close()
    return True


async def crowd(address: Address) -> None:
    """Open many connections for a moment, as clients do, so that a server needs memory."""

    async def visit() -> None:
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(CONNECT_S):
                _, writer = await asyncio.open_connection(address.host, address.port)
            await asyncio.sleep(CROWD_S)
            writer.close()

    await asyncio.gather(*(visit() for _ in range(CROWD)))
