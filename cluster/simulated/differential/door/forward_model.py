"""State when a broker forwards a request, tries again, and gives up (KIP-590)."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers.membership_model import MS, NOBODY, wait_ns
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message

FORWARDED: Final = frozenset(
    (19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64)
)
"""The API keys of the requests that the active controller decides for clients, and of
DescribeQuorum."""
LONGEST_MARGIN_NS: Final = 1_000 * MS
NOT_CONTROLLER, UNSUPPORTED_VERSION = 41, 35
TIMED_OUT, UNKNOWN_SERVER_ERROR = 7, -1
Judge = Callable[[Message, Message | int], None]
"""Compares the client's answer with the controller's answer, or with an error."""


class Held(Struct, kw_only=True, eq=False):
    """A client's request that the broker forwards."""

    event: Received
    """The request with the part for the controller."""
    expires: int
    judge: Judge
    refused: int = 0
    due: int = 0


class Sent(Struct):
    """A forwarded request on its way."""

    held: Held
    forward: Forward


class ForwardModel:
    """The forwarded requests of a broker."""

    def __init__(self, times: Timeouts, *, is_longest: bool) -> None:
        self._times, self._is_longest = times, is_longest
        self._leader = NOBODY
        """The controller of the last look."""
        self._waiting: list[Held] = []
        self.sent: list[Sent] = []
        """The expected forwards of the step, with correlation 0."""
        self.refused: list[tuple[Held, int]] = []
        """The expected refusals of the step, with their errors."""

    def receive(self, event: Received, judge: Judge, leader: int, now: int) -> None:
        """Take a request; the client's time less a margin is the time of the controllers."""
        client_ns = getattr(event.message, "timeout_ms", 0) * MS
        wait = client_ns - min(client_ns // 10, LONGEST_MARGIN_NS)
        held = Held(
            event=event,
            expires=now + (wait if client_ns > 0 else self._times.request_ns),
            judge=judge,
        )
        self._send(held, leader, now)

    def next_time(self) -> int | None:
        """Return the time of the next attempt."""
        return min((held.due for held in self._waiting), default=None)

    def advance(self, leader: int, now: int) -> None:
        """Try at once at a new controller."""
        if leader not in {self._leader, NOBODY}:
            for held in self._waiting:
                held.due = now
        self._leader = leader

    def tick(self, leader: int, now: int) -> None:
        """Try the requests whose time has come."""
        due = [held for held in self._waiting if held.due <= now]
        self._waiting = [held for held in self._waiting if held.due > now]
        for held in due:
            self._send(held, leader, now)

    def untried(self, held: Held, now: int) -> None:
        """Take the answer of a node that is no active controller: wait, and try again."""
        wait = wait_ns(self._times, held.refused, is_longest=self._is_longest)
        held.refused += 1
        held.due = min(now + wait, held.expires)
        self._waiting.append(held)

    def _send(self, held: Held, leader: int, now: int) -> None:
        left = held.expires - now
        if left <= 0:
            self.refused.append((held, NOT_CONTROLLER))
        elif leader == NOBODY:
            self.untried(held, now)
        else:
            self.sent.append(Sent(held, self._forward(held.event, leader, left)))

    def _forward(self, event: Received, leader: int, left: int) -> Forward:
        message = event.message
        client_ms = getattr(message, "timeout_ms", None)
        if client_ms is not None:
            message = replace(message, timeout_ms=min(client_ms, max(left // MS, 1)))
        return Forward(
            destination=NodeId(leader),
            correlation=0,
            message=message,
            version=event.version,
            principal=event.principal,
            client_host=event.client_host,
            client_id=event.client_id,
            client_correlation=event.correlation_id,
            timeout_ns=left,
            connect_ns=min(left, self._times.request_ns),
        )
