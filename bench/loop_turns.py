"""Large messages between a listener and a peer connection of the server, on one event loop.

Measure the longest turn of the event loop. See longest_step.py for the loads.
"""

import asyncio
import time
from collections.abc import Iterable
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct, structs

from kraftproof.node.core.base.config import NodeConfig, Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward, Reply, Send
from kraftproof.node.core.served import served_versions
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.clocks import LoopTimers
from kraftproof.node.server.connection import Connection, Slot
from kraftproof.node.server.large_messages import parts_of
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.peer_transport import PeerSocket, PeerTransport
from kraftproof.node.server.pending_requests import ClientReplies, PendingRequest, receive_request
from kraftproof.node.server.requests import Request
from kraftproof.node.server.workers import ThreadWorkers
from kraftproof.node.shell.peer_lanes import Lane
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.log import MetadataLog
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.create_topics_response import CreateTopicsResponse
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch, with_bytes
from kraftproof.node.wire.records.batches import encode_batch

PEER: Final = NodeId(1)
TIMEOUT_NS: Final = 60_000_000_000


class Load(Struct, frozen=True, kw_only=True):
    """A large request or its large answer."""

    request: Message
    version: int
    answer: Message | None
    """The large answer; None for a large request, which a broker forwards."""


class Ends(RequestTable[PendingRequest]):
    """A listener that answers every request with the same message."""

    def __init__(self, answer: Message) -> None:
        self._workers = ThreadWorkers(lambda _: None)
        super().__init__(ClientReplies(lambda *_: None, self._workers.encoder))
        self._answer = answer
        self._answered = asyncio.Event()
        self.answers: list[Message | None] = []

    async def exchange(self, effect: Send | Forward, *, is_controller: bool) -> None:
        """Send a request and wait for the answer."""
        probe = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = probe.sockets[0].getsockname()[1]
        probe.close()
        await probe.wait_closed()
        binding = Binding(name="L", host="127.0.0.1", port=port, is_controller=is_controller)
        listener = Listener(binding, limit=1, frame_bytes=1 << 27, on_request=self._on_request)
        await listener.open()
        lane = _lane_to(port)
        lane.request(effect, self._take)
        await asyncio.wait_for(self._answered.wait(), TIMEOUT_NS / 1e9)
        lane.close()
        listener.close()
        await asyncio.sleep(0.01)
        self._workers.close()

    def _on_request(
        self, binding: Binding, connection: Connection, request: Request, slot: Slot
    ) -> None:
        receive_request(self, binding, connection.host, request, slot)
        for event in list(self.open_requests):
            self.reply(Reply(request=event.request, message=self._answer))

    def _take(self, answer: Message | None) -> None:
        self.answers.append(answer)
        self._answered.set()


def _lane_to(port: int) -> Lane[PeerSocket]:
    config = NodeConfig(
        node_id=NodeId(4),
        cluster_id="c",
        is_controller=False,
        is_broker=True,
        voters=(Voter(node_id=PEER, host="127.0.0.1", port=port),),
        endpoints=(),
    )
    return Lane(PEER, PeerTransport(config, {}, "PLAINTEXT"), LoopTimers(), is_to_broker=False)


class Turns:
    """The longest turn of the event loop so far, in CPU time of the loop's thread."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._turn = turn = asyncio.Handle._run  # noqa: SLF001 (no other window)

        def timed(handle: asyncio.Handle) -> None:  # a function, which becomes a method of a handle
            begun = time.thread_time_ns()
            turn(handle)
            self.longest_ms = max(self.longest_ms, (time.thread_time_ns() - begun) / 1e6)

        asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]  # noqa: SLF001

    def close(self) -> None:
        """Time no further turn."""
        asyncio.Handle._run = self._turn  # type: ignore[method-assign]  # noqa: SLF001


async def measure_turns(loads: Iterable[Load]) -> float:
    """Print the longest turn under each load; return the longest of all in milliseconds."""
    longest_ms = 0.0
    for load in loads:
        name, parts = type(load.request).__name__, parts_of(load.answer or load.request)
        turns = Turns()
        ends = Ends(load.answer or CreateTopicsResponse())
        is_controller = load.request.API_KEY in served_versions(on_controller_listener=True)
        await ends.exchange(_effect(load), is_controller=is_controller)
        turns.close()
        assert ends.answers != [None], "the answer has come"
        label = f"{name}, {'a request' if load.answer is None else 'an answer'} of {parts:,} parts"
        print(f"{label}: {turns.longest_ms:.1f} ms")
        longest_ms = max(longest_ms, turns.longest_ms)
    return longest_ms


def _effect(load: Load) -> Send | Forward:
    if load.answer is not None:
        return Send(
            destination=PEER,
            correlation=1,
            message=load.request,
            version=load.version,
            timeout_ns=TIMEOUT_NS,
        )
    return Forward(
        destination=PEER,
        correlation=1,
        message=load.request,
        version=load.version,
        principal=ANONYMOUS,
        client_host="127.0.0.1",
        timeout_ns=TIMEOUT_NS,
        connect_ns=TIMEOUT_NS,
    )


def append_ms(batch: Batch) -> float:
    """Return the CPU time in which the log writes a batch that a thread has encoded."""
    encoded = with_bytes(batch, encode_batch(batch))
    with TemporaryDirectory() as directory:
        log, _ = MetadataLog.open(Disk(), f"{directory}/log")
        first = structs.replace(encoded, base_offset=0)
        begun = time.thread_time_ns()
        log.append(first)
        took_ms = (time.thread_time_ns() - begun) / 1e6
        log.close()
    return took_ms
