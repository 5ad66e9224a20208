"""The clients of a live run find answers that are wrong, and requests that nobody answers."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.cluster import answer_watch
from kraftproof.cluster.answer_watch import AnswerWatch, Silence
from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.kafka.connection import connect_to
from kraftproof.cluster.systems.registry import make_system
from kraftproof.node.wire.codec import encode_response
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages import api_versions_request, api_versions_response
from kraftproof.run.health.answers import broken_promises
from kraftproof.run.health.promises import ENDS, IN_ORDER

SECOND_NS = 1_000_000_000
BOUND_NS = 20 * SECOND_NS
ASK = api_versions_request.ApiVersionsRequest()
BODY = encode_response(api_versions_response.ApiVersionsResponse(), 0)
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def asked_of(answer: Answer, times: int = 1, *, closes_at_once: bool = False) -> AnswerWatch:
    """Ask a node that answers as the test says, and wait until all connections have ended.

    A client that closes at once goes on with another connection, as clients of a run do.
    """
    scope = LiveScope()
    watch = AnswerWatch(scope, SECOND_NS // 20)
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = await connect_to("127.0.0.1", port, SECOND_NS, node_id=3, watch=watch)
    for _ in range(times):
        try:
            await connection.call(ASK, 0, SECOND_NS // 10)
        except OutcomeUnknown:
            break
    if closes_at_once:
        connection.close()
        with pytest.raises(ConnectionFailed):
            await connection.call(ASK, 0, SECOND_NS // 10)
    for task in list(watch._held):
        await task
    connection.close()
    server.close()
    await asyncio.sleep(0.02)  # the other ends close, too
    await scope.cancel_rest()
    scope.raise_lost_errors()
    return watch


async def next_id(reader: asyncio.StreamReader) -> int:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return struct.unpack(">hhi", (await reader.readexactly(size))[:8])[2]


@pytest.fixture
def short(monkeypatch) -> None:
    monkeypatch.setattr(answer_watch, "SPARE_NS", SECOND_NS // 20)


@pytest.mark.parametrize("fault", ["none", "other id", "twice", "garbage"])
def test_an_answer_of_another_request_is_found(fault: str) -> None:
    async def answer(reader, writer) -> None:
        while True:
            number = await next_id(reader) + (fault == "other id")
            body = BODY if fault != "garbage" else BODY + b"x"
            answered = frame(number.to_bytes(4, "big"), body)
            writer.write(answered * (2 if fault == "twice" else 1))

    watch = asyncio.run(asked_of(answer, times=3))
    found = broken_promises(watch, ())
    assert [one.invariant for one in found] == ([] if fault == "none" else [IN_ORDER])
    assert all(one.node == 3 and "ApiVersionsRequest v0" in one.detail for one in found)
    assert watch.silent == []


@pytest.mark.parametrize("closes_at_once", [False, True])
def test_a_request_that_nobody_answers_is_a_silence(short, closes_at_once: bool) -> None:
    async def answer(reader, writer) -> None:
        await reader.read()
        writer.close()

    watch = asyncio.run(asked_of(answer, closes_at_once=closes_at_once))
    [silence] = watch.silent
    assert silence.node_id == 3
    assert silence.until_ns - silence.asked_ns >= SECOND_NS // 5
    assert watch.wrong == []


@pytest.mark.parametrize("late", ["answer", "end"])
def test_a_late_answer_and_the_end_of_the_connection_are_none(late: str) -> None:
    async def answer(reader, writer) -> None:
        number = await next_id(reader)
        await asyncio.sleep(0.15)
        if late == "answer":
            writer.write(frame(number.to_bytes(4, "big"), BODY))
        writer.close()

    watch = asyncio.run(asked_of(answer))
    assert (watch.wrong, watch.silent) == ([], [])


@pytest.mark.parametrize(
    ("spans", "found"),
    [
        ([], True),
        ([("partition", 0, None)], True),
        ([("kill", 0, 1)], True),
        ([("pause", 0, None)], False),
        ([("pause", 5, 15)], False),
        ([("kill", 0, 12)], False),
        ([("pause", 29, None)], True),
    ],
)
def test_time_under_a_fault_does_not_count(spans, found: bool) -> None:
    watch = AnswerWatch(LiveScope.__new__(LiveScope), BOUND_NS)
    asked_ns = 100 * SECOND_NS
    watch.silent.append(
        Silence(
            node_id=3,
            asked_ns=asked_ns,
            until_ns=asked_ns + 2 * SECOND_NS + BOUND_NS + 8 * SECOND_NS,
            timeout_ns=2 * SECOND_NS,
            about="Metadata v12",
        )
    )
    faults = [
        FaultSpan(
            name=f"{kind}-{start}",
            kind=kind,
            target="node 3",
            start=asked_ns + start * SECOND_NS,
            end=None if end is None else asked_ns + end * SECOND_NS,
        )
        for kind, start, end in spans
    ]
    violations = broken_promises(watch, faults)
    assert [one.invariant for one in violations] == [ENDS] * found
    assert all((one.node, one.time_ns) == (3, asked_ns) for one in violations)


@pytest.mark.parametrize(
    ("system", "bound_s"), [("reference", 20), ("apache-kafka", 90), ("mixed", 90)]
)
def test_a_silence_is_judged_by_the_time_that_the_system_declares(
    system: str, bound_s: int
) -> None:
    """Kafka 4.3.0 kept a forwarded CreateTopics for 22 s beside pauses of its controllers."""
    nodes = nodes_of(controller=1, broker=1)
    options = ClusterOptions(nodes=nodes, seed=0, directory=Path("unused"))
    cluster = LocalCluster(options, LiveScope.__new__(LiveScope), make_system(system))
    for silent_s in (bound_s, bound_s + 1):
        cluster.answers.silent = [
            Silence(node_id=2, asked_ns=0, until_ns=silent_s * SECOND_NS, timeout_ns=0, about="x")
        ]
        assert len(broken_promises(cluster.answers, ())) == (silent_s > bound_s)
