"""Threads encode large answers and decode large requests; the event loop goes on meanwhile."""

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable

import pytest

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.large_messages import LARGE_BYTES, LARGE_PARTS, is_large
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.pending_requests import ClientReplies, PendingRequest
from kraftproof.node.server.requests import Request
from kraftproof.node.server.workers import ThreadWorkers
from kraftproof.node.wire.codec import decode_response, encode_request
from kraftproof.node.wire.fetched_records import METADATA_TOPIC_ID
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages.generated import (
    create_topics_request,
    fetch_response,
    metadata_response,
)
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batch
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import Uuid
from tests.node.server.test_shell import run, until

RECORDS = 20_000
"""Records of a batch that takes some 70 ms to encode."""
TOPICS = 30_000
"""Topics of a request that takes some 100 ms to decode."""
LOOP_MS = 50
"""The longest turn of the event loop, in CPU time."""


@pytest.fixture
def longest_ms(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time each turn of the event loop by its own thread, whatever the machine's load."""
    longest, turn = [0.0], asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        begun = time.thread_time_ns()
        turn(handle)
        longest[0] = max(longest[0], (time.thread_time_ns() - begun) / 1e6)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    return longest


def large_batch() -> Batch:
    change = PartitionChangeRecord(partition_id=1, topic_id=Uuid(b"t" * 16), leader=2, isr=(2, 3))
    return Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(change,) * RECORDS)


def fetched(batch: Batch) -> fetch_response.FetchResponse:
    partition = fetch_response.PartitionData(
        partition_index=0, high_watermark=RECORDS, records=(batch,)
    )
    topic = fetch_response.FetchableTopicResponse(
        topic_id=METADATA_TOPIC_ID, partitions=(partition,)
    )
    return fetch_response.FetchResponse(responses=(topic,))


def request_frame(message: Message, version: int, correlation_id: int) -> bytes:
    header = RequestHeader(
        api_key=message.API_KEY, version=version, correlation_id=correlation_id, client_id="c"
    )
    flexible = 2 if version else 1
    return frame(encode_request_header(header, flexible), encode_request(message, version))


class Served:
    """A controller listener; the test sees the requests and answers them."""

    def __init__(self) -> None:
        self.requests: list[tuple[Request, Slot]] = []
        self.workers = ThreadWorkers(lambda _: None)
        self.replies = ClientReplies(lambda *_: None, self.workers.encoder)

    async def talk(
        self, act: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        """Open the listener and connect to it."""
        probe = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
        port = probe.sockets[0].getsockname()[1]
        probe.close()
        await probe.wait_closed()
        listener = Listener(
            Binding(name="C", host="127.0.0.1", port=port, is_controller=True),
            limit=10,
            frame_bytes=50_000_000,
            on_request=lambda _b, _h, request, slot: self.requests.append((request, slot)),
        )
        await listener.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await act(reader, writer)
        writer.close()
        listener.close()
        self.workers.close()

    def answer(self, index: int, message: Message) -> None:
        request, slot = self.requests[index]
        pending = PendingRequest(slot=slot, request=request, opened=None, since=Monotonic(0))
        event = Received(
            request=index,
            message=request.message,
            version=request.header.version,
            on_controller_listener=True,
            principal=ANONYMOUS,
            client_host="127.0.0.1",
        )
        self.replies.reply(pending, event, message)


async def payload_from(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


def test_a_large_answer_leaves_the_loop_its_turns_and_later_answers_wait(
    longest_ms: list[float],
) -> None:
    served, batch = Served(), large_batch()
    encoded: list[bytes] = []
    payloads: list[bytes] = []

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(request_frame(FetchRequest(), FETCH_VERSION, 1))
        writer.write(request_frame(ApiVersionsRequest(), 0, 2))
        await until(lambda: len(served.requests) == 2)
        served.workers.encode(batch, encoded.append, lambda _: None)
        served.answer(0, fetched(batch))
        served.answer(1, ApiVersionsResponse())
        payloads.extend([await payload_from(reader), await payload_from(reader)])

    run(lambda: served.talk(act))
    assert longest_ms[0] < LOOP_MS
    first, second = payloads
    assert struct.unpack(">i", second[:4]) == (2,)
    response = decode_response(FetchRequest.API_KEY, FETCH_VERSION, first[5:])
    assert isinstance(response, fetch_response.FetchResponse)
    (received,) = response.responses[0].partitions[0].records or ()
    assert received.records == batch.records
    assert received.received is not None
    assert received.received.data == encoded[0]


def test_a_large_request_leaves_the_loop_its_turns_and_later_requests_wait(
    longest_ms: list[float],
) -> None:
    topic = create_topics_request.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    large = create_topics_request.CreateTopicsRequest(topics=(topic,) * TOPICS)
    frames = request_frame(large, 7, 1) + request_frame(ApiVersionsRequest(), 0, 2)
    assert len(frames) > LARGE_BYTES
    served = Served()

    async def act(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        longest_ms[0] = 0.0
        writer.write(frames)
        await until(lambda: len(served.requests) == 2)

    run(lambda: served.talk(act))
    assert [request.header.correlation_id for request, _ in served.requests] == [1, 2]
    assert served.requests[0][0].message == large
    assert longest_ms[0] < LOOP_MS


def test_a_large_request_of_no_meaning_ends_its_connection_alone() -> None:
    served = Served()
    garbled = frame(struct.pack(">hhih", 19, 7, 1, -1), b"\xff" * LARGE_BYTES)

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(garbled + request_frame(ApiVersionsRequest(), 0, 2))
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await reader.readexactly(1)

    run(lambda: served.talk(act))
    assert served.requests == []


def metadata_of(topics: int, partitions: int) -> metadata_response.MetadataResponse:
    partition = metadata_response.MetadataResponsePartition(replica_nodes=(1, 2, 3))
    topic = metadata_response.MetadataResponseTopic(partitions=(partition,) * partitions)
    return metadata_response.MetadataResponse(topics=(topic,) * topics)


def test_the_parts_of_a_message_tell_large_from_small() -> None:
    batch = large_batch()
    (received,) = decode_batches(encode_batch(batch))
    assert is_large(fetched(batch))
    assert not is_large(fetched(received)), "its bytes are there"
    assert is_large(metadata_of(LARGE_PARTS, 0))
    assert is_large(metadata_of(1, LARGE_PARTS))
    assert is_large(metadata_of(60, 50))
    assert not is_large(metadata_of(5, 50))
    assert not is_large(ApiVersionsResponse())
