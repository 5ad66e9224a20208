"""The end of a relayed connection of the mesh."""

import asyncio
import socket
from contextlib import suppress

import pytest

from kraftproof.cluster.local.mesh.relay import Relay
from kraftproof.cluster.local.mesh.state import LinkState


@pytest.mark.parametrize("steps", range(8))
def test_a_relay_that_ends_while_the_run_ends_closes_both_connections(steps: int) -> None:
    """The run cancels a relay that is cancelled, or has ended, some steps of the loop before."""

    async def main() -> None:
        pairs = [socket.socketpair() for _ in range(2)]
        streams = [await asyncio.open_connection(sock=ours) for ours, _ in pairs]
        relay = asyncio.create_task(Relay(LinkState(1), streams[0], streams[1], None).run())
        await asyncio.sleep(0)
        relay.cancel()
        for _ in range(steps):
            await asyncio.sleep(0)
        relay.cancel()
        with suppress(asyncio.CancelledError):
            await relay
        assert [writer.is_closing() for _, writer in streams] == [True, True]
        for _, theirs in pairs:
            theirs.close()

    asyncio.run(main())
