"""A lane to a voter, as the other end of the connection sees the lane."""

import asyncio
import struct
from contextlib import suppress

import pytest

from kraftproof.node.server.peer_transport import PeerSocket
from tests.node.server.lanes import SECOND, api_versions, lane_to, transport_to
from tests.node.server.test_shell import run, until


async def serve(answer: bytes, closed: asyncio.Event) -> asyncio.Server:
    """Answer every request with these bytes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):  # cancelled if a test has failed
            while await reader.read(100):
                writer.write(answer)
        closed.set()
        writer.close()

    return await asyncio.start_server(talk, "127.0.0.1", 0)


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


@pytest.mark.requirement("595-57")
def test_a_time_out_closes_the_connection_at_the_other_end_too() -> None:
    async def scenario() -> None:
        closed, lost = asyncio.Event(), []
        server = await serve(b"", closed)
        lane = lane_to(port_of(server))
        lane.request(api_versions(SECOND // 20), lost.append)
        await asyncio.wait_for(closed.wait(), 5)
        server.close()
        assert lost == [None]

    run(scenario)


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack(">i", -1),
        struct.pack(">ih", 2, 0),
        struct.pack(">iih", 6, 1, 0),
        struct.pack(">iib", 5, 0, 0),
    ],
    ids=["no frame", "no correlation id", "another request's id", "no answer"],
)
def test_bytes_that_are_no_answer_end_the_connection(answer: bytes) -> None:
    async def scenario() -> None:
        closed, lost = asyncio.Event(), []
        server = await serve(answer, closed)
        lane_to(port_of(server)).request(api_versions(), lost.append)
        await asyncio.wait_for(closed.wait(), 5)
        server.close()
        assert lost == [None]

    run(scenario)


def test_a_connection_that_was_given_up_while_it_was_made_is_ended() -> None:
    async def scenario() -> None:
        closed = asyncio.Event()
        server = await serve(b"", closed)

        class Owner:
            def answered(self, *_: object) -> None:
                pytest.fail("nothing was sent")

            def ended(self, _: object) -> None:
                pass

        connection = transport_to(port_of(server)).connect(1, Owner())
        made = PeerSocket.connection_made

        def give_up(transport: asyncio.BaseTransport) -> None:
            connection.close()
            made(connection, transport)

        connection.connection_made = give_up
        await asyncio.wait_for(closed.wait(), 5)
        assert not connection.is_established
        server.close()

    run(scenario)


def test_a_refused_connection_is_an_unanswered_request() -> None:
    async def scenario() -> None:
        server = await serve(b"", asyncio.Event())
        port = port_of(server)
        server.close()
        await server.wait_closed()
        lost: list[object] = []
        lane_to(port).request(api_versions(), lost.append)
        await until(lambda: bool(lost))
        assert lost == [None]

    run(scenario)
