"""The interface of an invariant, and the monitor that calls all invariants during a run.

An invariant has a statement and overrides the hooks that it needs. The monitor calls only the
overridden hooks, after the effect or step in question, so each invariant costs only its own hooks.
"""

from collections.abc import Callable, Sequence
from inspect import isfunction
from typing import ClassVar

from kraftproof.cluster.simulated.disk.partition_mirrors import LostPartition
from kraftproof.cluster.simulated.invariants.by_type import ByType
from kraftproof.cluster.simulated.process_view import ClusterConfig, ProcessView
from kraftproof.cluster.simulated.violation import ViolationLog
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Effect, Forward, Send
from kraftproof.node.core.events import Event, Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.batch import Batch

__all__ = (
    "HOOKS",
    "LEADER",
    "ClusterConfig",
    "Events",
    "Invariant",
    "InvariantMonitor",
    "ProcessView",
    "Requests",
)

Requests = tuple[type[Message], ...]
Events = tuple[type[Event], ...]
LEADER = "leader"
LOOK_NS = milliseconds(500)
"""True time between two looks at a node, for invariants of what only grows or waits."""


class Invariant:
    """A property that must hold throughout a run; each hook is optional."""

    statement: ClassVar[str]
    requests: ClassVar[Requests] = ()
    """Types of requests that the message hooks get, with their answers; empty means all types."""
    step_events: ClassVar[Events] = ()
    """Types of events after whose steps `on_step` is called; empty means every step."""

    def __init__(self) -> None:
        self.monitor: InvariantMonitor

    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        """A process has recovered its log and starts."""

    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        """A batch has been appended to the log."""

    def on_truncated(self, process: ProcessView, end_offset: int) -> None:
        """The log is about to be truncated."""

    def on_partitions_recovered(self, process: ProcessView, lost: Sequence[LostPartition]) -> None:
        """A process has recovered its partition logs, and starts."""

    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        """An effect has changed the log of a partition; `process.partitions` has the result."""

    def on_data_received(self, process: ProcessView, event: Received) -> None:
        """The core of a broker is about to handle a request about partitions."""

    def on_data_sent(self, process: ProcessView, effect: Send) -> None:
        """A request is about to go from a broker to another broker."""

    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        """A broker has answered a request about partitions, which has no other message hook."""

    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        """The quorum state on disk has been replaced."""

    def on_sent(self, process: ProcessView, effect: Send) -> None:
        """A request is about to go to a voter."""

    def on_forwarding(self, process: ProcessView, effect: Forward) -> None:
        """A client's request is about to go to the controller."""

    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        """A response to a request of this process has arrived."""

    def on_unanswered(self, process: ProcessView, correlation: int) -> None:
        """A request of this process is lost: the core is about to learn that no answer comes."""

    def on_received(self, process: ProcessView, event: Received) -> None:
        """The core is about to handle a request."""

    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """A response is about to leave, before the later effects of its step are executed."""

    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """A step has answered a request; called after `on_status_changed` of that step."""

    def on_client_received(self, process: ProcessView, event: Received) -> None:
        """The core is about to handle a request of a principal of its own, no super user.

        Such a request has no hook `on_received`, and its answer has only `on_client_replied`.
        """

    def on_client_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """A step has answered a request of such a principal."""

    def on_listeners_opened(self, process: ProcessView) -> None:
        """A broker has opened its listeners for clients."""

    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        """A newer committed image has been published."""

    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        """The node is about to write a snapshot of an image."""

    def on_snapshot_completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        """A snapshot written by the node is complete on disk; `read` returns its file."""

    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        """A snapshot's file has been loaded, at a start or in place of the log."""

    def on_log_cleaned(self, process: ProcessView) -> None:
        """The log and the snapshots below a snapshot have been deleted."""

    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        """A step has changed the status of the node."""

    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        """A step has changed role, epoch or vote; called after `on_status_changed`."""

    def on_step(self, process: ProcessView) -> None:
        """A step has ended."""

    def on_look(self, process: ProcessView) -> None:
        """A step has ended, the first one LOOK_NS or more after the last look at the node."""

    def on_leader_step(self, process: ProcessView) -> None:
        """A step of a leader has ended; called after `on_step`."""

    def on_exited(self, process: ProcessView) -> None:
        """The process exits with status 0; its last step has no further hooks."""

    def on_pruned(self, below: int) -> None:
        """Every log starts at or above an offset; state about lower offsets may be dropped."""


HOOKS = tuple(name for name, hook in vars(Invariant).items() if isfunction(hook) and name[0] != "_")


class InvariantMonitor(ViolationLog):
    """Calls the hooks of every invariant and collects the violations."""

    def __init__(self, invariants: Sequence[Invariant]) -> None:
        super().__init__()
        self.rate_error = 0.0
        """Largest relative error of a monotonic clock's rate that faults have caused so far."""
        for invariant in invariants:
            invariant.monitor = self
        self.on_started = [i.on_started for i in _overriding(invariants, "on_started")]
        self.on_appended = [i.on_appended for i in _overriding(invariants, "on_appended")]
        self.on_truncated = [i.on_truncated for i in _overriding(invariants, "on_truncated")]
        self._join_for_partitions(invariants)
        self._join_for_clients(invariants)
        self.on_persisted = [i.on_persisted for i in _overriding(invariants, "on_persisted")]
        self.on_sent = ByType((i.requests, i.on_sent) for i in _overriding(invariants, "on_sent"))
        self.on_forwarding = ByType(
            (i.requests, i.on_forwarding) for i in _overriding(invariants, "on_forwarding")
        )
        self.on_response = ByType(
            (i.requests, i.on_response) for i in _overriding(invariants, "on_response")
        )
        self.on_unanswered = [i.on_unanswered for i in _overriding(invariants, "on_unanswered")]
        self.on_received = ByType(
            (i.requests, i.on_received) for i in _overriding(invariants, "on_received")
        )
        self.on_replying = ByType(
            (i.requests, i.on_replying) for i in _overriding(invariants, "on_replying")
        )
        self.on_replied = ByType(
            (i.requests, i.on_replied) for i in _overriding(invariants, "on_replied")
        )
        self.on_listeners_opened = [
            i.on_listeners_opened for i in _overriding(invariants, "on_listeners_opened")
        ]
        self.on_published = [i.on_published for i in _overriding(invariants, "on_published")]
        self.on_snapshot_begun = [
            i.on_snapshot_begun for i in _overriding(invariants, "on_snapshot_begun")
        ]
        self.on_snapshot_completed = [
            i.on_snapshot_completed for i in _overriding(invariants, "on_snapshot_completed")
        ]
        self.on_snapshot_loaded = [
            i.on_snapshot_loaded for i in _overriding(invariants, "on_snapshot_loaded")
        ]
        self.on_log_cleaned = [i.on_log_cleaned for i in _overriding(invariants, "on_log_cleaned")]
        self.on_status_changed = [
            i.on_status_changed for i in _overriding(invariants, "on_status_changed")
        ]
        roles = _overriding(invariants, "on_role_changed")
        self.on_role_changed = [i.on_role_changed for i in roles]
        steps = _overriding(invariants, "on_step")
        self.on_step = ByType((i.step_events, i.on_step) for i in steps)
        self.on_look = [i.on_look for i in _overriding(invariants, "on_look")]
        self._next_look_ns: dict[int, int] = {}
        self.on_leader_step = [i.on_leader_step for i in _overriding(invariants, "on_leader_step")]
        self.on_exited = [i.on_exited for i in _overriding(invariants, "on_exited")]
        self.on_pruned = [i.on_pruned for i in _overriding(invariants, "on_pruned")]

    def _join_for_partitions(self, invariants: Sequence[Invariant]) -> None:
        self.on_partitions_recovered = [
            i.on_partitions_recovered for i in _overriding(invariants, "on_partitions_recovered")
        ]
        self.on_data_received = ByType(
            (i.requests, i.on_data_received) for i in _overriding(invariants, "on_data_received")
        )
        self.on_data_sent = ByType(
            (i.requests, i.on_data_sent) for i in _overriding(invariants, "on_data_sent")
        )
        self.on_data_answered = ByType(
            (i.requests, i.on_data_answered) for i in _overriding(invariants, "on_data_answered")
        )
        self.on_partition_changed = [
            i.on_partition_changed for i in _overriding(invariants, "on_partition_changed")
        ]

    def _join_for_clients(self, invariants: Sequence[Invariant]) -> None:
        self.on_client_received = ByType(
            (i.requests, i.on_client_received)
            for i in _overriding(invariants, "on_client_received")
        )
        self.on_client_replied = ByType(
            (i.requests, i.on_client_replied) for i in _overriding(invariants, "on_client_replied")
        )

    def join(self, listener: Invariant) -> None:
        """Add a listener, called after the invariants; only before the run has begun."""
        listener.monitor = self
        for hook in HOOKS:
            hooks = getattr(self, hook)
            for one in _overriding([listener], hook):
                kinds = one.step_events if hook == "on_step" else one.requests
                of_type = (kinds,) if isinstance(hooks, ByType) else ()
                hooks.append(getattr(one, hook), *of_type)

    def status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        """Report a step that changed the status of a node from `before` to `after`."""
        for hook in self.on_status_changed:
            hook(process, before, after)
        if (
            before is None
            or before.role != after.role
            or before.epoch != after.epoch
            or before.voted_for != after.voted_for
        ):
            for hook in self.on_role_changed:
                hook(process, before, after)

    def step_ended(self, process: ProcessView) -> None:
        """Report the end of a step."""
        for hook in self.on_step[type(process.event)]:
            hook(process)
        if (now_ns := process.now_ns()) >= self._next_look_ns.get(process.node_id, 0):
            self._next_look_ns[process.node_id] = now_ns + LOOK_NS
            for hook in self.on_look:
                hook(process)
        if process.status is not None and process.status.role == LEADER:
            for hook in self.on_leader_step:
                hook(process)

    def report_violation(self, invariant: Invariant, process: ProcessView, detail: str) -> None:
        """Record a violation of an invariant."""
        self.report_violation_of(type(invariant).__name__, invariant.statement, process, detail)

    def report_violation_of(
        self, invariant: str, statement: str, process: ProcessView, detail: str
    ) -> None:
        """Record a violation of a property that has no class of its own."""
        self.record(invariant, statement, detail, node=process.node_id, time_ns=process.now_ns())


def _overriding(invariants: Sequence[Invariant], hook: str) -> list[Invariant]:
    return [i for i in invariants if getattr(type(i), hook) is not getattr(Invariant, hook)]
