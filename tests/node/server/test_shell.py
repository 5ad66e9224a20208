"""The parts of the shell alone: channels, connections and flushes."""

import asyncio
import struct
import threading
from collections.abc import Callable

import pytest

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.events import Flushed
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.channel import Channel
from kraftproof.node.server.connection import MAX_IN_FLIGHT, Slot
from kraftproof.node.server.flusher import Flusher
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.requests import Request, answer_frame
from kraftproof.node.storage.stored import Storage
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.schema import Message

SECOND = 1_000_000_000


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(4000):
        if holds():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it never came to hold")


class Harness:
    """A controller listener whose requests the test answers."""

    def __init__(self, limit: int = 10) -> None:
        self.requests: list[tuple[Request, Slot]] = []
        self.port = 0
        self._limit = limit

    async def open(self) -> Listener:
        probe = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
        self.port = probe.sockets[0].getsockname()[1]
        probe.close()
        await probe.wait_closed()
        binding = Binding(name="C", host="127.0.0.1", port=self.port, is_controller=True)
        listener = Listener(
            binding,
            limit=self._limit,
            frame_bytes=1000,
            on_request=lambda _b, _h, request, slot: self.requests.append((request, slot)),
        )
        await listener.open()
        return listener

    async def arrived(self, count: int) -> None:
        await until(lambda: len(self.requests) >= count)

    def answer(self, index: int) -> None:
        request, slot = self.requests[index]
        slot.fill(answer_frame(request, ApiVersionsResponse(), None))


async def round_trip(harness: Harness) -> None:
    """An answer on a connection of its own, after all that the listener had to send before."""
    channel = Channel("127.0.0.1", harness.port, "other")
    answers: list[Message | None] = []
    before = len(harness.requests)
    channel.request(ApiVersionsRequest(), 0, SECOND, answers.append)
    await harness.arrived(before + 1)
    harness.answer(before)
    await until(lambda: len(answers) == 1)
    assert answers[0] is not None
    channel.drop()


def run(test: Callable[[], "asyncio.Future[None]"]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 10)
        await asyncio.sleep(0.05)  # sockets that were closed get to end

    asyncio.run(bounded())


def frames(count: int) -> bytes:
    return b"".join(struct.pack(">ihhih", 10, 18, 0, number, -1) for number in range(count))


def test_answers_leave_in_the_order_of_the_requests() -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        channel = Channel("127.0.0.1", harness.port, "test")
        answers: list[int] = []
        for number in range(3):

            def note(message: Message | None, number: int = number) -> None:
                assert message is not None
                answers.append(number)

            channel.request(ApiVersionsRequest(), 0, SECOND, note)
        await harness.arrived(3)
        harness.answer(2)
        harness.answer(1)
        await round_trip(harness)
        assert answers == []
        harness.answer(0)
        await until(lambda: len(answers) == 3)
        assert answers == [0, 1, 2]
        channel.drop()
        listener.close()

    run(scenario)


@pytest.mark.requirement("595-57")
def test_a_time_out_drops_the_connection_and_all_in_flight_and_the_next_send_reconnects() -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        channel = Channel("127.0.0.1", harness.port, "test")
        lost: list[Message | None] = []
        channel.request(ApiVersionsRequest(), 0, SECOND // 20, lost.append)
        channel.request(ApiVersionsRequest(), 0, 5 * SECOND, lost.append)
        await harness.arrived(2)
        await until(lambda: len(lost) == 2)
        assert lost == [None, None]
        harness.answer(0)  # too late: its connection has gone, nobody hears of it
        channel.request(ApiVersionsRequest(), 0, 5 * SECOND, lost.append)
        await harness.arrived(3)
        harness.answer(2)
        await until(lambda: len(lost) == 3)
        assert isinstance(lost[2], ApiVersionsResponse)
        channel.drop()
        listener.close()

    run(scenario)


def test_a_refused_connection_is_an_unanswered_request() -> None:
    async def scenario() -> None:
        harness = Harness()
        (await harness.open()).close()
        lost: list[Message | None] = []
        channel = Channel("127.0.0.1", harness.port, "test")
        channel.request(ApiVersionsRequest(), 0, 5 * SECOND, lost.append)
        await until(lambda: bool(lost))
        assert lost == [None]

    run(scenario)


def test_a_client_that_asks_too_much_at_once_is_held_back_but_loses_nothing() -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", harness.port)
        total = MAX_IN_FLIGHT * 3
        writer.write(frames(total))
        await harness.arrived(MAX_IN_FLIGHT)
        await round_trip(harness)
        harness.requests.pop()
        assert len(harness.requests) == MAX_IN_FLIGHT
        for index in range(total):
            await harness.arrived(index + 1)
            harness.answer(index)
        for number in range(total):
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            assert struct.unpack(">i", (await reader.readexactly(size))[:4])[0] == number
        writer.close()
        listener.close()

    run(scenario)


def test_a_full_listener_turns_connections_away_until_one_ends() -> None:
    async def scenario() -> None:
        harness = Harness(limit=1)
        listener = await harness.open()
        _, first = await asyncio.open_connection("127.0.0.1", harness.port)
        first.write(frames(1))
        await harness.arrived(1)
        reader, second = await asyncio.open_connection("127.0.0.1", harness.port)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        second.close()
        first.close()
        await asyncio.sleep(0.05)
        _, third = await asyncio.open_connection("127.0.0.1", harness.port)
        third.write(frames(1))
        await harness.arrived(2)
        third.close()
        listener.close()

    run(scenario)


@pytest.mark.requirement("631-03")
@pytest.mark.parametrize(
    "sent",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 1001),
        struct.pack(">ih", 2, 18),
        struct.pack(">ihhih", 10, 3, 0, 1, -1),  # Metadata is not served by controllers
        struct.pack(">ihhih", 10, 52, 9, 1, -1),  # Vote has no version 9
        struct.pack(">ihhih", 10, 62, 0, 1, -1),  # a registration without a body
    ],
)
def test_bytes_that_are_no_request_end_the_connection(sent: bytes) -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", harness.port)
        writer.write(sent)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        assert harness.requests == []
        writer.close()
        listener.close()

    run(scenario)


class GatedStorage(Storage):
    """Storage whose fsync waits for the test."""

    def __init__(self, error: OSError | None = None) -> None:
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.fsyncs = 0
        self.error = error

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        def fsync() -> None:
            self.begun.set()
            self.gate.wait(5)
            self.fsyncs += 1
            if self.error is not None:
                raise self.error

        return fsync


def flush(end_offset: int) -> Flush:
    return Flush(generation=1, end_offset=Offset(end_offset))


@pytest.mark.requirement("595-09")
def test_flushes_that_wait_share_the_next_fsync_and_each_gets_its_token() -> None:
    async def scenario() -> None:
        storage = GatedStorage()
        flushed: list[Flushed] = []
        failures: list[BaseException] = []
        timed: list[int] = []
        flusher = Flusher(
            storage,
            on_flushed=flushed.append,
            on_failure=failures.append,
            on_timed=timed.append,
        )
        for end_offset in (1, 2, 3):
            flusher.request(flush(end_offset))
        await until(storage.begun.is_set)
        assert flushed == []
        storage.gate.set()
        await flusher.settled()
        assert [event.end_offset for event in flushed] == [1, 2, 3]
        assert storage.fsyncs == 2
        assert len(timed) == 2
        assert failures == []
        flusher.close()

    run(scenario)


def test_a_failed_fsync_is_reported_once_and_vouches_for_nothing() -> None:
    async def scenario() -> None:
        storage = GatedStorage(OSError(5, "Input/output error"))
        flushed: list[Flushed] = []
        failures: list[BaseException] = []
        timed: list[int] = []
        flusher = Flusher(
            storage,
            on_flushed=flushed.append,
            on_failure=failures.append,
            on_timed=timed.append,
        )
        flusher.request(flush(1))
        flusher.request(flush(2))
        storage.gate.set()
        await flusher.settled()
        assert failures, "a truncation that waits for the fsync hears of the failure"
        flusher.close()  # waits for an fsync that runs
        await asyncio.sleep(0)
        assert flushed == []
        assert storage.fsyncs == 1
        assert timed == []
        assert [str(error) for error in failures] == ["[Errno 5] Input/output error"]

    run(scenario)
