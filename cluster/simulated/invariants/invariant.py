"""What invariants are told, and what they say. Not: the invariants (invariants.py).

An invariant is a Invariant with a sentence. It overrides the hooks it needs; the monitor calls only
those, after the effect or step that they are about, so that each costs what it uses.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import isfunction
from typing import ClassVar, Generic, Protocol, TypeVar

from typing_extensions import override

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Event, Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.batch import Batch

Hook = TypeVar("Hook", bound=Callable[..., None])
Requests = tuple[type[Message], ...]

LEADER = "leader"
"""The name of the role, as a status has it."""


class ViolationKind(StrEnum):
    """The two kinds of violation: only a broken property says that an invariant has found a bug."""

    PROPERTY = "property"
    CRASH = "crash"
    """Code of a node raised an exception that nothing handled, as a misspelled name does, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One invariant that did not hold, or one crash."""

    invariant: str
    sentence: str
    node: int
    time_ns: int
    detail: str
    event: int
    """How many events of the run had happened; the same seed has it at the same one."""
    kind: ViolationKind = ViolationKind.PROPERTY
    traceback: str = field(default="", compare=False)
    """Of a crash: what Python prints; with a recorder, frames of the recorder are in it."""

    @override
    def __str__(self) -> str:
        seconds = self.time_ns / 1_000_000_000
        return (
            f"{self.invariant}: {self.sentence} [node {self.node}, {seconds:.3f} s] {self.detail}"
        )


class ProcessView(Protocol):
    """One process of a node, as invariants see it."""

    node_id: int
    incarnation: int
    """Which start of the node this is."""
    status: NodeStatus | None
    log: LogMirror
    event: Event | None
    """What it steps through, or has stepped through last; None for its start."""

    def now_ns(self) -> int:
        """True time, in nanoseconds since the run's start."""
        ...

    def running_ns(self) -> int:
        """The time that this process has run: without its pauses and its waits for its disk."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """What a run's invariants have to know beforehand."""

    voters: tuple[int, ...]
    timeouts: Timeouts
    cluster_id: str = ""

    @property
    def majority(self) -> int:
        """How many voters decide."""
        return len(self.voters) // 2 + 1


class Invariant:
    """An invariant; every hook may be left out."""

    sentence: ClassVar[str]
    requests: ClassVar[Requests] = ()
    """It hears of messages with these requests only, and their answers; of all if none is named."""

    def __init__(self) -> None:
        self.monitor: InvariantMonitor

    def started(self, process: ProcessView, durable: QuorumState) -> None:
        """A process has recovered its log and begins."""

    def appended(self, process: ProcessView, batch: Batch) -> None:
        """A batch has been written."""

    def truncated(self, process: ProcessView, end_offset: int) -> None:
        """The log has been cut."""

    def persisted(self, process: ProcessView, state: QuorumState) -> None:
        """The quorum state has been replaced."""

    def sent(self, process: ProcessView, effect: Send) -> None:
        """A request goes to a voter."""

    def heard(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        """An answer to a request of its own has arrived."""

    def received(self, process: ProcessView, event: Received) -> None:
        """A request is about to be stepped."""

    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """An answer is about to leave; nothing of the step after it has been carried out."""

    def replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """A request has been answered, in the step that is told by `moved`."""

    def opened(self, process: ProcessView) -> None:
        """A broker begins to listen to clients."""

    def published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        """The committed image has moved."""

    def snapshotted(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        """A snapshot of this image is about to be written."""

    def completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        """A snapshot of its own is whole and on disk; its file is read when one asks."""

    def loaded(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        """A snapshot's file has been loaded: at a start, or in place of the log."""

    def cleaned(self, process: ProcessView) -> None:
        """Log and snapshots below a snapshot are gone."""

    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        """A step has changed what the node shows."""

    def turned(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        """A step has changed the role, the epoch or the vote; told after `moved`."""

    def stepped(self, process: ProcessView) -> None:
        """A step is over."""

    def led(self, process: ProcessView) -> None:
        """A step is over, and the process leads now; told after `stepped`."""

    def exited(self, process: ProcessView) -> None:
        """The process ends in order, in a step that is told no more."""

    def forgotten(self, below: int) -> None:
        """No log reaches below this offset any more: what is kept of that may go."""


class ByRequest(dict[type[Message], list[Hook]], Generic[Hook]):
    """Who is told of a message, by the type of the request; found when the first comes."""

    def __init__(self, hooks: Iterable[tuple[Requests, Hook]]) -> None:
        super().__init__()
        self._hooks = list(hooks)

    def append(self, hook: Hook) -> None:
        """Tell one more, after the others and of every request."""
        self._hooks.append(((), hook))
        self.clear()

    def __missing__(self, request: type[Message]) -> list[Hook]:
        told = [hook for requests, hook in self._hooks if not requests or request in requests]
        self[request] = told
        return told


HOOKS = tuple(name for name, hook in vars(Invariant).items() if isfunction(hook) and name[0] != "_")


class InvariantMonitor:
    """Tells each invariant what it asked for, and keeps what they object to."""

    def __init__(self, invariants: Sequence[Invariant]) -> None:
        self.violations: list[Violation] = []
        self.count_events: Callable[[], int] = lambda: 0
        """How many events have happened; the world says it."""
        self.rate_error = 0.0
        """The largest part by which faults have had a monotonic clock run too quick or slow."""
        for invariant in invariants:
            invariant.monitor = self
        self.on_started = [w.started for w in _who(invariants, "started")]
        self.on_appended = [w.appended for w in _who(invariants, "appended")]
        self.on_truncated = [w.truncated for w in _who(invariants, "truncated")]
        self.on_persisted = [w.persisted for w in _who(invariants, "persisted")]
        self.on_sent = ByRequest((w.requests, w.sent) for w in _who(invariants, "sent"))
        self.on_response = ByRequest((w.requests, w.heard) for w in _who(invariants, "heard"))
        self.on_received = ByRequest((w.requests, w.received) for w in _who(invariants, "received"))
        self.on_replying = ByRequest((w.requests, w.replying) for w in _who(invariants, "replying"))
        self.on_replied = ByRequest((w.requests, w.replied) for w in _who(invariants, "replied"))
        self.on_listeners_opened = [w.opened for w in _who(invariants, "opened")]
        self.on_published = [w.published for w in _who(invariants, "published")]
        self.on_snapshot_begun = [w.snapshotted for w in _who(invariants, "snapshotted")]
        self.on_snapshot_completed = [w.completed for w in _who(invariants, "completed")]
        self.on_snapshot_loaded = [w.loaded for w in _who(invariants, "loaded")]
        self.on_log_cleaned = [w.cleaned for w in _who(invariants, "cleaned")]
        self.on_status_changed = [w.moved for w in _who(invariants, "moved")]
        self.on_role_changed = [w.turned for w in _who(invariants, "turned")]
        self.on_step = [w.stepped for w in _who(invariants, "stepped")]
        self.on_leader_step = [w.led for w in _who(invariants, "led")]
        self.on_exited = [w.exited for w in _who(invariants, "exited")]
        self.on_pruned = [w.forgotten for w in _who(invariants, "forgotten")]

    def join(self, listener: Invariant) -> None:
        """Tell one more what happens, before anything has; it hears it after the others."""
        for hook in HOOKS:
            if getattr(type(listener), hook) is not getattr(Invariant, hook):
                getattr(self, f"on_{hook}").append(getattr(listener, hook))

    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        """Tell of a step that has changed what a node shows, from what it showed before."""
        for moved in self.on_status_changed:
            moved(process, before, after)
        if (
            before is None
            or before.role != after.role
            or before.epoch != after.epoch
            or before.voted_for != after.voted_for
        ):
            for turned in self.on_role_changed:
                turned(process, before, after)

    def stepped(self, process: ProcessView) -> None:
        """Tell of the end of a step."""
        for stepped in self.on_step:
            stepped(process)
        if process.status is not None and process.status.role == LEADER:
            for led in self.on_leader_step:
                led(process)

    def object(self, invariant: Invariant, process: ProcessView, detail: str) -> None:
        """Record that a invariant's sentence does not hold."""
        self.report_violation_of(type(invariant).__name__, invariant.sentence, process, detail)

    def report_violation_of(
        self, invariant: str, sentence: str, process: ProcessView, detail: str
    ) -> None:
        """Record a violation of something that no invariant watches."""
        self.record(invariant, sentence, detail, node=process.node_id, time_ns=process.now_ns())

    def record(
        self,
        invariant: str,
        sentence: str,
        detail: str,
        *,
        node: int,
        time_ns: int,
        kind: ViolationKind = ViolationKind.PROPERTY,
        traceback: str = "",
    ) -> None:
        """Record a violation by a node that may have no process."""
        self.violations.append(
            Violation(
                invariant=invariant,
                sentence=sentence,
                node=node,
                time_ns=time_ns,
                detail=detail,
                event=self.count_events(),
                kind=kind,
                traceback=traceback,
            )
        )


def _who(invariants: Sequence[Invariant], hook: str) -> list[Invariant]:
    """Return the invariants that override a hook, in their order."""
    return [w for w in invariants if getattr(type(w), hook) is not getattr(Invariant, hook)]
