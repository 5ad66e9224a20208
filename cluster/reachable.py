"""Whether somebody listens at an address, as the harness sees it."""

import asyncio

from kraftproof.cluster.protocol import Address

CONNECT_S = 1.0


async def accepts(address: Address) -> bool:
    """Return whether a connection to the address is accepted."""
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except (TimeoutError, OSError):
        return False
    writer.close()
    return True
