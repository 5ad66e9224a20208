"""A lane to a voter, as the other end of the connection sees the lane."""

import asyncio
import struct
import time
from contextlib import suppress

import pytest

from kraftproof.node.core.effects import Send
from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from kraftproof.node.server.peer_transport import PeerSocket
from kraftproof.node.wire.codec import encode_response
from kraftproof.node.wire.fetched_records import METADATA_TOPIC_ID
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated import fetch_response
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import Uuid
from tests.node.server.lanes import PEER, SECOND, api_versions, lane_to, transport_to
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

        connection = transport_to(port_of(server)).connect(1, Owner(), is_to_broker=False)
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


RECORDS = 20_000
"""Records of a batch that takes some 80 ms to decode."""
LOOP_MS = 50
"""The longest turn of the event loop, in CPU time."""


def large_fetch() -> tuple[bytes, Batch]:
    """Return the frame that answers a Fetch with one large batch, and the batch."""
    change = PartitionChangeRecord(partition_id=1, topic_id=Uuid(b"t" * 16), leader=2, isr=(2, 3))
    batch = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(change,) * RECORDS)
    partition = fetch_response.PartitionData(
        partition_index=0, high_watermark=RECORDS, records=(batch,)
    )
    topic = fetch_response.FetchableTopicResponse(
        topic_id=METADATA_TOPIC_ID, partitions=(partition,)
    )
    message = fetch_response.FetchResponse(responses=(topic,))
    header = struct.pack(">i", 0) + NO_TAGS
    return frame(header, encode_response(message, FETCH_VERSION)), batch


NO_TAGS = b"\0"
AFTER_IT = frame(struct.pack(">ihi", 1, 0, 0))
"""The answer to the ApiVersions request that follows."""


def test_a_large_answer_leaves_the_loop_its_turns_and_answers_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    longest_ms, turn = [0.0], asyncio.Handle._run
    answers: list[Message | None] = []
    answer, batch = large_fetch()
    fetch = Send(
        destination=PEER,
        correlation=1,
        message=FetchRequest(),
        version=FETCH_VERSION,
        timeout_ns=60 * SECOND,
    )

    def timed(handle: asyncio.Handle) -> None:
        begun = time.thread_time_ns()  # of the loop's thread alone, whatever the machine's load
        turn(handle)
        longest_ms[0] = max(longest_ms[0], (time.thread_time_ns() - begun) / 1e6)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer + AFTER_IT)
        await reader.read()
        writer.close()

    async def scenario() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        lane = lane_to(port_of(server))
        lane.request(fetch, answers.append)
        lane.request(api_versions(60 * SECOND), answers.append)
        monkeypatch.setattr(asyncio.Handle, "_run", timed)
        await until(lambda: len(answers) == 2)
        lane.close()
        server.close()

    run(scenario)
    first, second = answers
    assert isinstance(first, fetch_response.FetchResponse)
    (topic,) = first.responses
    (received,) = topic.partitions[0].records or ()
    assert received.records == batch.records
    assert isinstance(second, ApiVersionsResponse)
    assert longest_ms[0] < LOOP_MS
