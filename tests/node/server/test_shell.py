"""The parts of the server alone: connections of clients, lanes to peers and work in threads."""

import asyncio
import struct
import threading
from collections.abc import Callable, Generator

import pytest

from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import MAX_IN_FLIGHT, Slot
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.requests import Request, answer_frame
from kraftproof.node.server.workers import ThreadWorkers
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.schema import Message
from tests.node.server.lanes import SECOND, api_versions, lane_to


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
        slot.respond(answer_frame(request, ApiVersionsResponse(), None))


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
        lane = lane_to(harness.port)
        answers: list[int] = []
        for number in range(3):

            def note(message: Message | None, number: int = number) -> None:
                assert message is not None
                answers.append(number)

            lane.request(api_versions(), note)
        await harness.arrived(3)
        harness.answer(2)
        harness.answer(1)
        await asyncio.sleep(0.02)
        assert answers == []
        harness.answer(0)
        await until(lambda: len(answers) == 3)
        assert answers == [0, 1, 2]
        lane.drop()
        listener.close()

    run(scenario)


@pytest.mark.requirement("595-57")
def test_a_time_out_drops_the_connection_and_all_in_flight_and_the_next_send_reconnects() -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        lane = lane_to(harness.port)
        lost: list[Message | None] = []
        lane.request(api_versions(SECOND // 20), lost.append)
        lane.request(api_versions(), lost.append)
        await harness.arrived(2)
        await until(lambda: len(lost) == 2)
        assert lost == [None, None]
        harness.answer(0)  # too late: its connection has gone, nobody hears of it
        lane.request(api_versions(), lost.append)
        await harness.arrived(3)
        harness.answer(2)
        await until(lambda: len(lost) == 3)
        assert isinstance(lost[2], ApiVersionsResponse)
        lane.drop()
        listener.close()

    run(scenario)


def test_a_client_that_asks_too_much_at_once_is_held_back_but_loses_nothing() -> None:
    async def scenario() -> None:
        harness = Harness()
        listener = await harness.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", harness.port)
        total = MAX_IN_FLIGHT * 3
        writer.write(frames(total))
        await harness.arrived(MAX_IN_FLIGHT)
        await asyncio.sleep(0.05)
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


class Gate:
    """An fsync that waits for the test."""

    def __init__(self, error: Exception | None = None) -> None:
        self.opened = threading.Event()
        self.error = error

    def fsync(self) -> None:
        assert self.opened.wait(5)
        if self.error is not None:
            raise self.error


def test_work_in_threads_calls_back_in_the_loop_while_the_loop_goes_on() -> None:
    async def scenario() -> None:
        gate, timed, done, failures = Gate(), [], [], []
        workers = ThreadWorkers(timed.append)
        workers.fsync(gate.fsync, lambda: done.append(threading.get_ident()), failures.append)
        workers.run(steps(), done.append, failures.append)
        await until(lambda: done == ["all steps"])
        gate.opened.set()
        await until(lambda: len(done) == 2)
        assert done[1] == threading.get_ident()
        assert len(timed) == 1
        assert failures == []
        workers.close()

    run(scenario)


def steps() -> Generator[None, None, str]:
    yield
    yield
    return "all steps"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(5, "Input/output error"), "[Errno 5] Input/output error"),
        (KeyError("epoch"), "KeyError: 'epoch'"),
    ],
)
def test_failed_work_is_reported_once_and_vouches_for_nothing(
    error: Exception, reason: str
) -> None:
    async def scenario() -> None:
        gate, timed, done, failures = Gate(error), [], [], []
        workers = ThreadWorkers(timed.append)
        workers.fsync(gate.fsync, lambda: done.append("done"), failures.append)
        gate.opened.set()
        await until(lambda: bool(failures))
        assert [str(failure) for failure in failures] == [reason]
        assert isinstance(failures[0], OSError)
        assert (done, timed) == ([], [])
        workers.close()

    run(scenario)
