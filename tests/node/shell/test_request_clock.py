"""The time of a step slows the client of its request, by the quota of KIP-124."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.effects import Effect, EndRequest, Reply
from kraftproof.node.core.events import Event
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.shell.request_clock import RequestClock
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    metadata_request,
    metadata_response,
    produce_request,
    vote_request,
)
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records

S = 1_000_000_000
METADATA = metadata_request.MetadataRequest()
OF_REPLICA = fetch_request.ReplicaState(replica_id=2, replica_epoch=1)


class Bench:
    """A request table and its clock, whose time moves by hand."""

    def __init__(self, percentage: float | None = 10) -> None:
        times = RequestTimes(QuotaPolicy(windows=11, window_ns=S))
        part = records.EntityData(entity_type="client-id", entity_name="busy")
        key = "producer_byte_rate" if percentage is None else "request_percentage"
        record = records.ClientQuotaRecord(entity=(part,), key=key, value=percentage or 1)
        times.follow(replace(EMPTY_IMAGE, quotas=EMPTY_IMAGE.quotas.after(record)))
        self.read = 0
        self.time_ns = 0
        self.clock = RequestClock(times, self)
        self.mutes: list[int] = []
        self.answers: list[Message] = []
        self.table: RequestTable[str] = RequestTable(self, self.clock)

    def now(self) -> Instant:
        self.read += 1
        return Instant(Monotonic(self.time_ns), WallClock(0))

    def set_deadline(self, deadline: Monotonic | None) -> None:
        raise AssertionError("the clock of requests has no deadline")

    def mute(self, client: str, duration_ns: int) -> None:
        self.mutes.append(duration_ns // 1_000_000)

    def reply(self, client: str, event: Event, message: Message) -> None:
        self.answers.append(message)

    def end(self, client: str, event: Event, *, closes_connection: bool) -> None:
        pass

    def begin(self, message: Message = METADATA, client_id: str = "busy", **changes) -> int:
        event = self.table.receive(
            "client",
            message=message,
            version=12,
            on_controller_listener=False,
            principal=ANONYMOUS,
            client_host="h",
            forwarded_by=changes.get("forwarded_by"),
            forwarder_host="",
            client_id=client_id,
        )
        self.clock.begin(event)
        return event.request

    def work(self, seconds: float) -> None:
        self.time_ns += int(seconds * S)

    def answer(self, request: int) -> int:
        answer: Effect = Reply(request=request, message=metadata_response.MetadataResponse())
        self.table.reply(answer)
        return self.answers[-1].throttle_time_ms  # type: ignore[attr-defined]

    def end_step(self, *, is_over: bool = True) -> None:
        self.clock.pause(self.table.is_open, is_over=is_over)


def serve(bench: Bench, seconds: float, *args, **changes) -> int:
    request = bench.begin(*args, **changes)
    bench.work(seconds)
    throttle_ms = bench.answer(request)
    bench.end_step()
    return throttle_ms


def test_a_client_above_its_share_of_a_thread_waits() -> None:
    bench = Bench(percentage=10)
    assert serve(bench, 0.9) == 0  # of the 10 windows: 1 second at 10 percent
    assert serve(bench, 0.12) == pytest.approx(80, abs=1)  # 10.2 s of the 10.12 s
    assert bench.mutes == [bench.answers[-1].throttle_time_ms]  # type: ignore[attr-defined]
    assert serve(bench, 5) == 1000  # at most one window


def test_other_clients_and_requests_between_nodes_are_free() -> None:
    bench = Bench()
    assert serve(bench, 5, client_id="other") == 0
    assert serve(bench, 5, vote_request.VoteRequest()) == 0
    assert serve(bench, 5, fetch_request.FetchRequest(replica_state=OF_REPLICA)) == 0
    assert serve(bench, 5, fetch_request.FetchRequest(replica_id=2)) == 0
    assert serve(bench, 5, fetch_request.FetchRequest(replica_id=-1)) > 0


def test_a_produce_without_an_answer_is_free() -> None:
    bench = Bench()
    request = bench.begin(produce_request.ProduceRequest(acks=0))
    bench.work(5)
    bench.table.end(EndRequest(request=request, closes_connection=False))
    assert bench.mutes == []


def test_a_forwarded_request_states_the_wait_and_mutes_nobody() -> None:
    bench = Bench()
    assert serve(bench, 5, forwarded_by=ANONYMOUS) == 1000
    assert bench.mutes == []


def test_a_late_answer_costs_the_time_of_its_own_step_only() -> None:
    bench = Bench(percentage=10)
    late = bench.begin()
    bench.work(0.5)
    bench.end_step()
    bench.work(5)
    assert serve(bench, 0.6, client_id="other") == 0
    bench.work(5)
    assert bench.answer(late) == 0
    assert serve(bench, 0.4) == 0
    assert serve(bench, 0.2) > 0
    assert bench.clock._spent == {}


def test_a_wait_for_the_disk_costs_nothing() -> None:
    bench = Bench(percentage=10)
    request = bench.begin()
    bench.work(0.4)
    bench.end_step(is_over=False)
    bench.work(8)
    bench.clock.resume()
    bench.work(0.4)
    assert bench.answer(request) == 0
    bench.end_step()
    assert serve(bench, 0.4) > 0


def test_no_time_is_read_without_a_quota_of_time() -> None:
    bench = Bench(percentage=None)
    before = bench.read
    bench.begin()
    bench.end_step()
    assert bench.read == before
