"""Count the requests that a broker forwards to the controller (KIP-590 "Monitoring Metrics").

A request counts from its Envelope until the answer or the time-out. A retried request is sent
again, and counts again.
"""

from collections.abc import Iterable

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.effects import Effect, Forward
from kraftproof.node.core.events import Answered, Event, Unanswered
from kraftproof.node.server.metrics.sliding_windows import Window
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse


class ForwardingMetrics:
    """The pending and the sent Envelopes of a broker, and those refused for its own rights."""

    __slots__ = ("_pending", "_refused", "_sent", "_window")

    def __init__(self, now: Monotonic) -> None:
        self._pending: set[int] = set()
        self._sent = 0
        self._refused = 0
        self._window = Window(now)

    def stepped(self, event: Event, effects: Iterable[Effect], now: Monotonic) -> None:
        """Take the event of a step and its effects."""
        if isinstance(event, Answered | Unanswered) and event.correlation in self._pending:
            self._pending.discard(event.correlation)
            if isinstance(event, Answered) and isinstance(event.message, EnvelopeResponse):
                code = event.message.error_code
                self._refused += code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        for effect in effects:
            if isinstance(effect, Forward):
                self._pending.add(effect.correlation)
                self._sent += 1
                self._window.record(1, now)

    def gauges(self, now: Monotonic) -> dict[str, float]:
        """Return the figures by name (590-20, 590-21)."""
        rate = self._window.rate(now)
        return {
            "num-client-forwarding-to-controller-rate": rate,
            "num-client-forwarding-to-controller-count": len(self._pending),
            "num-messages-redirected-rate": rate,
            "num-messages-redirected-count": self._sent,
            "request-forwarding-to-controller-authorization-fail-count": self._refused,
        }
