"""A broker without shell, disk and quorum, and its effects by kind."""

from random import Random
from typing import Any, Final, cast

from msgspec import Struct, field

from kraftproof.cluster.simulated.differential.brokers.membership_model import NOBODY
from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.cluster.simulated.differential.door.view import View
from kraftproof.node.core.audit import Audited
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.broker.broker import Broker
from kraftproof.node.core.effects import (
    Append,
    Effect,
    EndRequest,
    Exit,
    Flush,
    Forward,
    OpenClientListeners,
    Reply,
    Send,
)
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    ReplyWithBatches,
    ReplyWithVolumes,
    WriteCheckpoints,
)
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer

UNCOMPARED: Final = (Append, ConfigureLog, NoteEpoch, DeleteLog, Audited)
"""Effects that other comparisons compare."""


class Quorum:
    """The leader of the quorum, as a broker sees it."""

    leader = NodeId(NOBODY)
    epoch = 0


class Effects(Struct):
    """The effects of a step."""

    replies: dict[int, Any] = field(default_factory=dict)
    with_batches: set[int] = field(default_factory=set)
    """The requests with records in their answers."""
    ended: list[EndRequest] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    forwards: list[Forward] = field(default_factory=list)
    flushes: list[Flush] = field(default_factory=list)
    searches: list[FindTimestamp] = field(default_factory=list)
    checkpoints: list[WriteCheckpoints] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    opens: int = 0
    """Number of the openings of the client listeners."""

    def take(self, effect: Effect) -> None:
        """Sort an effect.

        Raises:
            DifferenceError: a broker has no such effect, or answers a request twice.
        """
        match effect:
            case Reply() | ReplyWithBatches() | ReplyWithVolumes():
                check("a request has one answer", effect.request not in self.replies)
                self.replies[effect.request] = effect.message
                if isinstance(effect, ReplyWithBatches):
                    self.with_batches.add(effect.request)
            case OpenClientListeners():
                self.opens += 1
            case EndRequest() | Send() | Forward() | Flush() | FindTimestamp() | Exit():
                self._list_of(effect).append(effect)
            case WriteCheckpoints():
                self.checkpoints.append(effect)
            case _:
                check(f"{effect} is an effect of a broker", isinstance(effect, UNCOMPARED))

    def _list_of(self, effect: Effect) -> list[Any]:
        lists: dict[type, list[Any]] = {
            EndRequest: self.ended,
            Send: self.sends,
            Forward: self.forwards,
            Flush: self.flushes,
            FindTimestamp: self.searches,
            Exit: self.exits,
        }
        return lists[type(effect)]


class DoorRig:
    """A drawn broker, the clock and its neighbours."""

    def __init__(self, view: View, random: Random, now_ns: int) -> None:
        self.now_ns = now_ns
        self.quorum = Quorum()
        self._committed = CommittedImage()
        self._outbox = Outbox()
        policy = view.policy
        authorizer = None if policy is None else Authorizer(policy, self._committed, self._outbox)
        self.broker = Broker(
            view.config,
            cast("Any", self.quorum),
            self._committed,
            self._outbox,
            random,
            self.now,
            recovered=view.recovered(),
            authorizer=authorizer,
        )

    @property
    def now(self) -> Instant:
        """Return both clocks."""
        return Instant(Monotonic(self.now_ns), WallClock(self.now_ns))

    def publish(self, view: View) -> None:
        """Take over the newest image."""
        self._committed.image, self._committed.offset = view.image, Offset(view.offset)

    def answer(self, correlation: int, message: Any) -> None:  # noqa: ANN401 - of many classes
        """Answer an open request of the broker; None for a lost answer."""
        self._outbox.resume(correlation, message, self.now)

    def advance(self) -> Effects:
        """Let the broker follow its neighbours, and return the effects of the step."""
        self.broker.advance(self.now)
        effects = Effects()
        for effect in self._outbox.drain():
            effects.take(effect)
        return effects
