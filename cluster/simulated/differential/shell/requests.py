"""Compare the times and waits of requests, and the sizes of volumes, with models."""

from random import Random
from types import SimpleNamespace
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.effects import EndRequest, Reply
from kraftproof.node.core.events import Received, Tick
from kraftproof.node.core.log_effects import (
    ReplyWithVolumes,
)
from kraftproof.node.shell.request_clock import RequestClock
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.shell.volumes import answer_with_volumes
from kraftproof.node.wire.messages.generated import (
    describe_log_dirs_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.principal import ANONYMOUS

STORAGE_ERROR: Final = 56


def compare_shell_requests(random: Random) -> None:
    """Drive the tables of requests with drawn times, waits and volumes.

    Raises:
        DifferenceError: a part has another result than its model.
    """
    _compare_times(random)
    _compare_waits(random)
    _compare_volumes(random)


def new_request(number: int) -> Received:
    """Return a request of a client."""
    return Received(
        request=number,
        message=metadata_request.MetadataRequest(),
        version=1,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="",
    )


def _compare_times(random: Random) -> None:
    """Measure steps with waits for the disk, some answered in a later step."""
    now, charged = [1_000], list[tuple[int, int, int]]()
    is_used = random.random() < 0.9

    def record(event: Received, busy_ns: int, now_ns: int) -> int:
        charged.append((event.request, busy_ns, now_ns))
        return event.request + 5

    times = SimpleNamespace(is_used=is_used, record=record)
    clock = SimpleNamespace(now=lambda: Instant(Monotonic(now[0]), WallClock(0)))
    measured = RequestClock(cast("Any", times), cast("Any", clock))
    spent = dict[int, int]()
    for number in range(1, 6):
        event, busy_ns = new_request(number), 0
        measured.begin(random.choice((None, Tick())))
        now[0] += 7
        measured.pause(lambda _: True, is_over=True)
        measured.begin(event)
        for _ in range(random.randrange(3)):
            busy_ns += _pass(now, random)
            measured.pause(lambda _: True, is_over=False)
            _pass(now, random)
            measured.resume()
        busy_ns += _pass(now, random)
        if random.random() < 0.5:
            _charge(measured, event, busy_ns, now[0], charged, is_used=is_used)
            busy_ns += _pass(now, random)
            measured.pause(lambda _: False, is_over=True)
        else:
            measured.pause(lambda _: True, is_over=True)
            spent[number] = busy_ns
        measured.begin(Tick())
        for old in [one for one in spent if random.random() < 0.4]:
            _charge(measured, new_request(old), spent.pop(old), now[0], charged, is_used=is_used)
            same("a request is charged once", measured.throttle_ms(new_request(old)), 0)


def _pass(now: list[int], random: Random) -> int:
    """Let time pass, and return its length."""
    duration_ns = random.randrange(100)
    now[0] += duration_ns
    return duration_ns


def _charge(
    measured: RequestClock,
    event: Received,
    busy_ns: int,
    now_ns: int,
    charged: list[tuple[int, int, int]],
    *,
    is_used: bool,
) -> None:
    found = measured.throttle_ms(event)
    same("the wait of a client", found, event.request + 5 if is_used else 0)
    if is_used:
        same("the time of a request", charged[-1], (event.request, busy_ns, now_ns))


def _compare_waits(random: Random) -> None:
    """Answer and end requests whose clients must wait, for the core or for the clock."""
    said = list[tuple[object, ...]]()
    replies = SimpleNamespace(
        mute=lambda client, duration_ns: said.append(("mute", client, duration_ns)),
        reply=lambda client, event, message: said.append(("reply", client, event, message)),
        end=lambda client, event, closes_connection: said.append(
            ("end", client, event, closes_connection)
        ),
    )
    of_clock = random.choice((0, 0, 7, 40))
    clock = SimpleNamespace(throttle_ms=lambda _: of_clock)
    has_clock = random.random() < 0.8
    table: RequestTable[str] = RequestTable(
        cast("Any", replies), cast("Any", clock) if has_clock else None
    )
    for _ in range(6):
        is_forwarded, stated = random.random() < 0.3, random.choice((0, 0, 9, 90))
        event = table.receive(
            "client",
            message=metadata_request.MetadataRequest(),
            version=1,
            on_controller_listener=random.random() < 0.5,
            principal=ANONYMOUS,
            client_host="host",
            forwarded_by=ANONYMOUS if is_forwarded else None,
            forwarder_host="forwarder",
            client_id="id",
            correlation_id=4,
            listener="OTHER",
        )
        check("a request is open", table.is_open(event.request))
        same("the open requests", [one.request for one in table.open_requests], [event.request])
        wait_ms, said[:] = max(stated, of_clock if has_clock else 0), []
        muted = [("mute", "client", wait_ms * 1_000_000)] if wait_ms else []
        if random.random() < 0.5:
            message = metadata_response.MetadataResponse(throttle_time_ms=stated)
            table.reply(Reply(request=event.request, message=message))
            expected = metadata_response.MetadataResponse(throttle_time_ms=wait_ms)
            muted = [] if is_forwarded else muted
            same("a reply", said, [*muted, ("reply", "client", event, expected)])
        else:
            closes = random.random() < 0.5
            end = EndRequest(request=event.request, closes_connection=closes, throttle_ms=stated)
            table.end(end)
            same("an end", said, [*muted, ("end", "client", event, closes)])
        check("an answered request is closed", not table.is_open(event.request))
        facts = event.client_host, event.forwarder_host, event.client_id, event.correlation_id
        same(
            "the facts of a request",
            (*facts, event.listener),
            ("host", "forwarder", "id", 4, "OTHER"),
        )


def _compare_volumes(random: Random) -> None:
    result = describe_log_dirs_response.DescribeLogDirsResult
    results = tuple(
        result(log_dir=f"/{number}", error_code=random.choice((0, 0, 41))) for number in range(4)
    )
    failed = random.choice(results).log_dir

    def volume(path: str) -> tuple[int, int]:
        if path == failed:
            raise OSError(5, "failed")
        return int(path[1:]) + 100, int(path[1:]) + 50

    message = describe_log_dirs_response.DescribeLogDirsResponse(results=results)
    disk = SimpleNamespace(volume=volume)
    reply = answer_with_volumes(cast("Any", disk), ReplyWithVolumes(request=6, message=message))
    assert isinstance(reply.message, describe_log_dirs_response.DescribeLogDirsResponse)
    found = [(one.error_code, one.total_bytes, one.usable_bytes) for one in reply.message.results]
    expected = [
        (one.error_code, -1, -1)
        if one.error_code
        else (STORAGE_ERROR, -1, -1)
        if one.log_dir == failed
        else (0, int(one.log_dir[1:]) + 100, int(one.log_dir[1:]) + 50)
        for one in results
    ]
    same("the sizes of volumes", (reply.request, found), (6, expected))
