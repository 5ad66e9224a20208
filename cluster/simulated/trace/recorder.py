"""Records the last events of a run, for the sequence diagram of a violation (diagram.py).

The recorder draws no random numbers and schedules nothing, so a run with a recorder equals the run
without. Only the replay of a run for display has a recorder. Events are: a message as its receiver
reads it, a lost message, an effect on a disk, and a change of a node's status.
"""

from collections import defaultdict, deque
from collections.abc import Callable

from typing_extensions import override

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.invariants.invariant import LEADER, Invariant, ProcessView
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint, ServerEndpoint
from kraftproof.cluster.simulated.network.links import HARNESS, Links
from kraftproof.cluster.simulated.network.network import Call, Connection, Request
from kraftproof.cluster.simulated.network.transport import Arrived, Outgoing, Transport
from kraftproof.cluster.simulated.trace.message_text import (
    api_of,
    format_batch,
    format_quorum_state,
    format_request,
    format_response,
    format_status_change,
)
from kraftproof.cluster.simulated.trace.partition_text import format_partition_change
from kraftproof.cluster.simulated.trace.trace_events import Kind, State, TraceEvent
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.effects import Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.shell.ports import ConnectionOwner
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.batch import Batch

MAX_EVENTS = 200_000
"""Maximum number of recorded events, about one minute of a busy cluster."""


class Recorder(Invariant):
    """The last events of one run."""

    statement = "The recorder reports no violation."

    def __init__(self, world: World, most: int = MAX_EVENTS) -> None:
        """Listen to a world that has not started yet."""
        self.events: deque[TraceEvent] = deque(maxlen=most)
        self._world = world
        self._unread: dict[tuple[int, int], deque[tuple[Arrived, int, int]]] = defaultdict(deque)
        world.monitor.join(self)
        world.network.make_connection = self._connection

    def _connection(
        self,
        link: Link,
        client: ClientEndpoint,
        lookup: Callable[[], ServerEndpoint | None],
        owner: ConnectionOwner[Connection, Request],
    ) -> Connection:
        network = self._world.network
        return _RecordedConnection(
            self, link, client, lookup, owner, links=network.links, transport=network.transport
        )

    def arrived(self, link: Link, arrived: Arrived, sent_ns: int) -> None:
        """Note that a request has reached its machine; the process may read the request later."""
        unread = self._unread[link.target, id(arrived.message)]
        unread.append((arrived, link.source, sent_ns))

    def answered(self, link: Link, asked: Message, message: Message, sent_ns: int) -> None:
        """Record that a client has read a response."""
        self.note(
            Kind.RESPONSE,
            link.source,
            format_response(message),
            source=link.target,
            api=api_of(message),
            subject=format_request(asked),
            sent_ns=sent_ns,
        )

    def lost(self, link: Link, message: Message, sent_ns: int) -> None:
        """Record that a running sender has given up a request."""
        if link.source == HARNESS or self._world.machines[link.source].process is not None:
            self.note(
                Kind.LOST,
                link.target,
                format_request(message),
                source=link.source,
                api=api_of(message),
                sent_ns=sent_ns,
            )

    def note(
        self,
        kind: Kind,
        target: int,
        text: str,
        *,
        source: int | None = None,
        also: tuple[int, ...] = (),
        api: str = "",
        subject: str = "",
        sent_ns: int | None = None,
    ) -> None:
        """Record one event, with the state of each node."""
        scheduler = self._world.scheduler
        self.events.append(
            TraceEvent(
                time_ns=scheduler.now_ns,
                event=scheduler.events,
                kind=kind,
                target=target,
                text=text,
                source=source,
                also=also,
                api=api,
                subject=subject,
                sent_ns=sent_ns,
                states=self._states(),
            )
        )

    def now_ns(self) -> int:
        """Return the time since the start of the run, in nanoseconds."""
        return self._world.scheduler.now_ns

    def _states(self) -> tuple[State, ...]:
        machines = self._world.machines
        return tuple(_state_of(machines[node_id].process) for node_id in sorted(machines))

    def _step(self, process: ProcessView, text: str) -> None:
        self.note(Kind.STEP, process.node_id, text)

    # The hooks of the monitor

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        unread = self._unread.get((process.node_id, id(event.message)))
        if not unread:
            return
        arrived, source, sent_ns = unread.popleft()
        if not unread:
            del self._unread[process.node_id, id(event.message)]
        words, api = format_request(arrived.message), api_of(arrived.message)
        self.note(
            Kind.REQUEST,
            process.node_id,
            words if arrived.forwarded_by is None else f"{words} (forwarded)",
            source=source,
            api=api,
            sent_ns=sent_ns,
        )

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        end = process.log.end_offset
        self._step(
            process, f"start {process.incarnation}: log end {end}, {format_quorum_state(durable)}"
        )

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        self._step(process, f"appends {format_batch(batch)}")

    @override
    def on_truncated(self, process: ProcessView, end_offset: int) -> None:
        self._step(process, f"truncates {process.log.end_offset} to {end_offset}")

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        self._step(process, format_partition_change(log, effect, process.partitions))

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        self._step(process, f"writes quorum-state: {format_quorum_state(state)}")

    @override
    def on_listeners_opened(self, process: ProcessView) -> None:
        self._step(process, "opens its listener to clients")

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        del image
        self._step(process, f"writes snapshot {snapshot.end_offset}@{snapshot.epoch}")

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        del image
        self._step(process, f"loads snapshot {snapshot.end_offset}@{snapshot.epoch}")

    @override
    def on_log_cleaned(self, process: ProcessView) -> None:
        self._step(process, f"drops the log below {process.log.start.end_offset}")

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        words = format_status_change(before, after)
        if words:
            self._step(process, words)


def _state_of(process: object) -> State:
    if process is None:
        return State.DOWN
    if getattr(process, "is_paused", False):
        return State.PAUSED
    status: NodeStatus | None = getattr(process, "status", None)
    return State.LEADS if status is not None and status.role == LEADER else State.UP


class _RecordedConnection(Connection):
    """A connection that reports its messages to a recorder."""

    __slots__ = ("_recorder", "_sent_ns", "_unanswered")

    def __init__(
        self,
        recorder: Recorder,
        link: Link,
        client: ClientEndpoint,
        lookup: Callable[[], ServerEndpoint | None],
        owner: ConnectionOwner[Connection, Request],
        *,
        links: Links,
        transport: Transport,
    ) -> None:
        super().__init__(link, client, lookup, owner, links=links, transport=transport)
        self._recorder = recorder
        self._sent_ns: dict[int, int] = {}
        self._unanswered: dict[int, Outgoing] = {}

    @override
    def send(self, correlation_id: int, outgoing: Outgoing) -> None:
        self._sent_ns[id(outgoing)] = self._recorder.now_ns()
        self._unanswered[id(outgoing)] = outgoing
        super().send(correlation_id, outgoing)

    @override
    def close(self) -> None:
        super().close()
        lost, self._unanswered = self._unanswered, {}
        for key, outgoing in lost.items():
            self._recorder.lost(self.link, outgoing.message, self._sent_ns[key])

    @override
    def _arrive(self, call: Call, arriving: Callable[[], Arrived]) -> None:
        def arrived() -> Arrived:
            request = arriving()
            self._recorder.arrived(self.link, request, self._sent_ns[id(call.outgoing)])
            return request

        super()._arrive(call, arrived)

    @override
    def _send_back(self, call: Call, arriving: Callable[[], Message]) -> None:
        sent_ns = self._recorder.now_ns()

        def answered() -> Message:
            message = arriving()
            del self._unanswered[id(call.outgoing)]
            self._recorder.answered(self.link, call.outgoing.message, message, sent_ns)
            return message

        super()._send_back(call, answered)
