"""The node and the observer of a compared shell: what the shell owes to both."""

from collections import Counter
from random import Random
from typing import Any, Final, cast

from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.shell.effects import Draw
from kraftproof.cluster.simulated.differential.shell.ports import Connection, Port
from kraftproof.cluster.simulated.differential.shell.rig import Rig
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant, Monotonic
from kraftproof.node.core.effects import (
    CheckSnapshot,
    Effect,
    EndRequest,
    Exit,
    Flush,
    Forward,
    Reply,
    ReplyWithSlice,
    Send,
    WriteSnapshot,
)
from kraftproof.node.core.events import (
    Answered,
    Event,
    Flushed,
    ProducersRead,
    Received,
    SnapshotChecked,
    SnapshotWritten,
    TimestampFound,
    Unanswered,
)
from kraftproof.node.core.log_effects import DeleteLog, FindTimestamp, ReadProducers
from kraftproof.node.shell import ports
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse

NOT_CONTROLLER: Final = 41


class ShellNode(ports.Observer):
    """A shell with a node that decides drawn effects, and what both still owe."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rig = Rig(random)
        self.draw = Draw(random)
        self.owed: Counter[object] = Counter()
        """Events that must still come."""
        self.requests: dict[int, Received] = {}
        """Requests without an answer."""
        self.asked: dict[int, tuple[Send | Forward, int]] = {}
        """Requests to peers with the time at which they were sent, by correlation."""
        self.answers: dict[int, Message] = {}
        """Answers of peers that the node must hear, by correlation."""
        self.is_closing = False
        self.clients = self.heard = self.steps = 0
        self.clients_events: dict[int, Received] = {}
        """The requests that the shell has to hand to the node, by number."""
        self.observed: Event | None = None
        self.began: Instant | None = None
        """When the present step began."""
        self.ticks = 0
        self.replied: list[tuple[object, object, object]] = []
        self.may_fail = random.random() < 0.15
        self.is_stepping = False
        rig = cast("Any", Port(self.rig))
        self.rig.wakes = self._woken
        self.rig.on_close = self._closed
        self.shell: NodeShell[Any, Any] = NodeShell(
            cast("Any", self),
            ports.Ports(
                disk=cast("Any", self.rig.files),
                workers=rig,
                transport=rig,
                timers=rig,
                clock=rig,
                replies=cast(
                    "Any", Port(self.rig, reply=self._replied, end=self._ended, mute=_mute)
                ),
                process=rig,
                observer=self,
            ),
        )
        self.shell.start()

    def _woken(self) -> None:
        if self.random.random() < 0.7:
            self.shell.run()

    # The node

    def start(self, now: Instant) -> list[Effect]:
        """Decide the first effects."""
        self.began = now
        return self._decide()

    def node_step(self, event: Event) -> list[Effect]:
        """Take an event."""
        match event:
            case Received():
                self.heard += 1
                same("the requests in order", event.request, self.heard)
                same("the facts of a request", event, self.clients_events.pop(event.request))
                self.requests[event.request] = event
                self.draw.requests.append(event.request)
            case Answered():
                effect, _ = self.asked.pop(event.correlation)
                refusal = EnvelopeResponse(error_code=NOT_CONTROLLER)
                expected = self.answers.pop(event.correlation, refusal)
                same("an answer of a peer", event.message, expected)
                if expected is refusal:
                    homes = [
                        one for one in self.rig.lanes.connections if effect in one.sent.values()
                    ]
                    check("a refused Forward reached nobody", not homes[0].is_established)
                    check("only a Forward is refused", isinstance(effect, Forward))
            case Unanswered():
                check("a lost request was asked", event.correlation in self.asked)
                effect, _ = self.asked.pop(event.correlation)
                homes = self._homes(effect)
                check("a request is lost with its connection", homes and homes[0].is_closed)
                is_unsent = isinstance(effect, Forward) and not homes[0].is_established
                check("a Forward that reached nobody is refused", not is_unsent)
            case (
                Flushed()
                | SnapshotWritten()
                | SnapshotChecked()
                | TimestampFound()
                | ProducersRead()
            ):
                key = _key(event)
                check(f"{key} was asked for", self.owed[key])
                if isinstance(event, Flushed):
                    flushed = map(_key, self.rig.flushes.flushed)
                    check("an fsync since the flush has returned", key in flushed)
                self.owed[key] -= 1
            case _:
                self.ticks -= 1
        return self._decide()

    def _homes(self, effect: Send | Forward) -> list[Connection]:
        """Return the connection of a request without an answer."""
        return [one for one in self.rig.lanes.connections if effect in one.sent.values()]

    def step(self, event: Event, now: Instant) -> list[Effect]:
        """Take an event after all effects of the event before."""
        check("a step waits for the step before", not self.rig.planned)
        check("a step waits for the disk", not self.rig.is_barrier and not self.rig.is_held)
        check("no step after the end", not self.rig.is_over)
        check("the observer hears of a step before the node", self.observed is event)
        self.began = now
        self.steps += 1
        return self.node_step(event)

    def deadline(self) -> Monotonic | None:
        """Return when the node wants a Tick."""
        return Monotonic(self.rig.stepped + 1)

    def _decide(self) -> list[Effect]:
        effects = self.draw.effects(may_end=self.may_fail)
        self.rig.planned.extend(effects)
        for effect in effects:
            match effect:
                case (
                    Flush() | WriteSnapshot() | CheckSnapshot() | FindTimestamp() | ReadProducers()
                ):
                    self.owed[_key(effect)] += 1
                case Send() | Forward():
                    self.asked[effect.correlation] = (effect, self.rig.now_ns)
                case _:
                    pass
        return effects

    def _closed(self, one: Connection) -> None:
        """Check that a connection ends for a reason: its peer, a time-out, or the end."""
        now_ns, is_late = self.rig.now_ns, False
        for effect in one.sent.values():
            _, asked_ns = self.asked.get(effect.correlation, (effect, now_ns))
            is_late = is_late or now_ns >= asked_ns + effect.timeout_ns
            if isinstance(effect, Forward) and not one.is_established:
                is_late = is_late or now_ns >= asked_ns + effect.connect_ns
        check("a connection ends for a reason", one.may_close or is_late or self.is_closing)

    def _replied(self, client: object, event: Received, message: Message) -> None:
        self.rig.calls.append(("reply", message))
        self._close_request(client, event)
        following = self.rig.planned[0]
        check("a reply in order", isinstance(following, Reply | ReplyWithSlice))
        if isinstance(following, Reply):
            same("an answer", (event.request, message), (following.request, following.message))

    def _ended(self, client: object, event: Received, *, closes_connection: bool) -> None:
        self.rig.calls.append(("end", event))
        self._close_request(client, event)
        following = self.rig.planned[0]
        assert isinstance(following, EndRequest), "an end of a request comes in order"
        facts = event.request, closes_connection
        same("an ended request", facts, (following.request, following.closes_connection))

    def _close_request(self, client: object, event: Received) -> None:
        check("no answer before a barrier is passed", not self.rig.is_barrier)
        same("the client of an answer", client, f"client {event.request}")
        check("a request is answered once", self.requests.pop(event.request, None) is event)

    # The observer

    @override
    def on_effect(self, effect: Effect) -> None:
        self.rig.on_effect(effect)
        if isinstance(effect, Send | Forward):
            self.asked[effect.correlation] = (effect, self.rig.now_ns)
        if isinstance(effect, DeleteLog):
            self._drop_flushes(effect.log)

    def _drop_flushes(self, log: LogId) -> None:
        """Expect no event for a flush of a deleted log, unless its fsync has returned before."""
        still = map(_key, (*self.rig.planned, *self.rig.flushes.flushed))
        kept = {key for key in still if key is not None}
        for key in self.owed:
            if isinstance(key, tuple) and key[:2] == ("flush", log) and key not in kept:
                self.owed[key] = 0

    @override
    def on_step(self, event: Event | None) -> None:
        self.observed = event

    @override
    def on_held(self) -> None:
        check("the disk holds a shell once", not self.rig.is_held)
        self.rig.is_held = True

    @override
    def on_released(self) -> None:
        check("a shell that is released was held", self.rig.is_held)
        self.rig.is_held = False

    @override
    def on_stepped(self, now: Instant) -> None:
        check("a step ends with its effects", not self.rig.planned)
        same("the begin of a step that has ended", now, self.began)
        self.rig.stepped += 1

    @override
    def on_response(self, request: Send | Forward, message: Message) -> None:
        check("a response to a request", request.correlation in self.asked)


def _mute(client: object, duration_ns: int) -> None:
    """Take no further request of a client; no quota makes a client wait here."""


def _key(one: object) -> object:
    """Return what an effect and its event have in common."""
    match one:
        case Flush() | Flushed():
            return "flush", one.log, one.generation, one.end_offset
        case WriteSnapshot():
            return "snapshot", one.snapshot, one.timestamp_ms
        case SnapshotWritten():
            return "snapshot", one.stored.snapshot, one.stored.size
        case CheckSnapshot() | SnapshotChecked():
            return "check", one.copy
        case FindTimestamp() | TimestampFound():
            return "time", one.token
        case ReadProducers() | ProducersRead():
            return "producers", one.log, one.generation, one.end_offset
        case Exit():
            return "exit"
        case _:
            return None
