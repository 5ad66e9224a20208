"""Invariants of the shell, by its calls of the ports: the contract of node/core/effects.py.

The simulated disk makes most effects durable at once, so a shell that waits for nothing would lose
nothing there. These invariants name the wait that is missing.
"""

from typing import Final

from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor, ProcessView
from kraftproof.cluster.simulated.network.transport import Arrived, Outgoing
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Effect, Forward, Send
from kraftproof.node.core.events import Event
from kraftproof.node.shell.ports import PeerConnection
from kraftproof.node.wire.messages import Message

SENTENCES: Final = {
    "BarriersHold": "Nothing happens after a barrier before the barrier is on disk.",
    "FlushesAreWaitedFor": "No file of the metadata log is changed during an fsync of the log.",
    "OneSnapshotAtATime": "Snapshots are written and checked one at a time.",
    "AnswersFitRequests": "A request is resumed by its own answer.",
    "UnsentReachedNobody": "A Forward is refused by its sender only if it can have reached nobody.",
    "FetchesGoAlone": "A connection to a peer carries Fetches alone, or no Fetch.",
    "EnvelopesAreOpened": "A request in an Envelope arrives as its client's, not as its broker's.",
    "PeersAnswerInTime": "A Send or Forward ends in one answer, or in none, within its time-out.",
}
OVERDUE_NS: Final = milliseconds(50)
"""Time for the end of a request beyond its time-out."""


class PortContract:
    """Watches the work that one process has given to its disk."""

    __slots__ = (
        "_answered",
        "_due",
        "_forwards",
        "_fsyncs",
        "_monitor",
        "_process",
        "_snapshots",
        "barrier",
    )

    def __init__(self, process: ProcessView, monitor: InvariantMonitor) -> None:
        self._process = process
        self._monitor = monitor
        self.barrier: type[Effect] | None = None
        """The kind of the barrier that is not on disk yet."""
        self._fsyncs = 0
        self._snapshots = 0
        self._due: dict[int, int] = {}
        """The running time by which each request to a peer ends, by correlation."""
        self._forwards: dict[int, PeerConnection] = {}
        """The connection that each Forward without a response was sent on."""
        self._answered: Message | None = None
        """The request whose answer was read last."""

    def in_flight_exceeded(self, count: int) -> None:
        """Report the requests without an answer that a connection has too many of."""
        self._monitor.report_violation_of(
            "ConnectionsAreBounded",
            "A node works on a bounded number of requests of a connection at a time.",
            self._process,
            f"{count} requests of a connection without an answer",
        )

    def on_step(self, event: Event | None) -> None:
        """Report an event that is taken while a barrier is under way."""
        self._violated("BarriersHold", f"{type(event).__name__} is taken{self._meanwhile()}")

    def on_effect(self, effect: Effect) -> None:
        """Check that an effect which is carried out is the barrier that is under way."""
        if type(effect) is not self.barrier:
            done = f"{type(effect).__name__} is carried out"
            self._violated("BarriersHold", f"{done}{self._meanwhile()}")

    def _meanwhile(self) -> str:
        assert self.barrier is not None, "a barrier is under way"
        return f" while {self.barrier.__name__} is on its way to the disk"

    def barrier_begins(self, effect: Effect) -> None:
        """Note a barrier that was written and is not on disk."""
        self.barrier = type(effect)

    def barrier_ends(self) -> None:
        """Note that the barrier is on disk."""
        self.barrier = None

    def files_change(self, effect: Effect) -> None:
        """Check that no fsync is under way when files of the log are changed."""
        if self._fsyncs:
            detail = f"{type(effect).__name__} while an fsync is under way"
            self._violated("FlushesAreWaitedFor", detail)

    def fsync_begins(self) -> None:
        """Note an fsync of the metadata log."""
        self._fsyncs += 1

    def fsync_ends(self) -> None:
        """Note the return of an fsync."""
        self._fsyncs -= 1

    def snapshot_begins(self) -> None:
        """Check that no other snapshot is written or checked."""
        if self._snapshots:
            self._violated("OneSnapshotAtATime", "a snapshot begins before the last one is done")
        self._snapshots += 1

    def snapshot_ends(self) -> None:
        """Note that a snapshot was written or checked."""
        self._snapshots -= 1

    def is_answered(self, asked: Message, answered: Message) -> None:
        """Check that the answer to one request is not taken for another's."""
        self._answered = asked
        if asked is not answered:
            names = f"{type(asked).__name__}, the answer is to another {type(answered).__name__}"
            self._violated("AnswersFitRequests", f"asked {names}")

    def request_begins(self, request: Send | Forward) -> None:
        """Note the time-out of a request, and check the request that has waited longest."""
        running_ns = self._process.running_ns()
        if self._due:
            oldest = next(iter(self._due))
            if running_ns > self._due[oldest] + OVERDUE_NS:
                self._overdue(oldest, running_ns)
        self._due[request.correlation] = running_ns + request.timeout_ns

    def request_ends(self, correlation: int) -> None:
        """Check that a request has ended within its time-out, for the first time."""
        running_ns = self._process.running_ns()
        if correlation not in self._due:
            self._violated("PeersAnswerInTime", f"request {correlation} ends twice")
        elif running_ns > self._due[correlation] + OVERDUE_NS:
            self._overdue(correlation, running_ns)
        self._due.pop(correlation, None)

    def _overdue(self, correlation: int, running_ns: int) -> None:
        late_ms = (running_ns - self._due[correlation]) / 1e6
        detail = f"request {correlation} has not ended {late_ms:.0f} ms after its time-out"
        self._violated("PeersAnswerInTime", detail)

    def lane_is_mixed(self, request: Send) -> None:
        """Report a request that waits for Fetches, which may wait for news, or the reverse."""
        name = type(request.message).__name__
        self._violated("FetchesGoAlone", f"{name} to node {request.destination}")

    def forward_begins(self, request: Forward, connection: PeerConnection) -> None:
        """Note the connection of a Forward."""
        self._forwards[request.correlation] = connection

    def on_response(self, request: Send | Forward) -> None:
        """Check that a Forward which no peer has answered was not sent."""
        if not isinstance(request, Forward):
            return
        connection = self._forwards.pop(request.correlation)
        if request.message is not self._answered and connection.is_established:
            name = type(request.message).__name__
            self._violated("UnsentReachedNobody", f"{name} was sent, and is refused as unsent")

    def has_arrived(self, outgoing: Outgoing, arrived: Arrived) -> None:
        """Compare the sender that an Envelope names with the sender that the shell is told."""
        forward = outgoing.forward
        if forward is None:
            return
        for field in ("principal", "client_host", "client_id", "version"):
            sent, told = getattr(forward, field), getattr(arrived, field)
            if told != sent:
                name = type(forward.message).__name__
                detail = f"{name} with {field} {sent!r} arrives with {told!r}"
                self._violated("EnvelopesAreOpened", detail)

    def _violated(self, invariant: str, detail: str) -> None:
        self._monitor.report_violation_of(invariant, SENTENCES[invariant], self._process, detail)
