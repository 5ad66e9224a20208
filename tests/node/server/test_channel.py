"""A channel to a voter, as the other end of the connection sees the channel."""

import asyncio
from collections import deque
from contextlib import suppress

import pytest

from kraftproof.node.server.channel import Channel
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from tests.node.server.test_shell import SECOND, run


@pytest.mark.requirement("595-57")
def test_a_time_out_closes_the_connection_at_the_other_end_too() -> None:
    async def scenario() -> None:
        closed = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while await reader.read(100):
                    pass
            closed.set()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        channel = Channel("127.0.0.1", server.sockets[0].getsockname()[1], "test")
        channel.request(ApiVersionsRequest(), 0, SECOND // 20, lambda _: None)
        await asyncio.wait_for(closed.wait(), 5)
        server.close()
        assert channel._in_flight == deque()

    run(scenario)
