"""Collect the effects of a step, and the continuations of requests."""

from collections.abc import Callable

from kraftproof.node.core.base.types import Instant, NodeId
from kraftproof.node.core.effects import Effect, Exit, Forward, Reply, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message

Continuation = Callable[[Message | None, Instant], None]
"""Called once with the answer, or with None without an answer."""


class Outbox:
    """The ordered effects of a step, and the continuations of sent requests."""

    __slots__ = ("_continuations", "_correlation", "effects", "has_exit")

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        """The effects to be drained; each change of the quorum's state adds an effect."""
        self._continuations: dict[int, Continuation] = {}
        self._correlation = 0
        self.has_exit = False
        """Whether an Exit was ever emitted."""

    def emit(self, effect: Effect) -> None:
        """Append an effect."""
        self.effects.append(effect)
        if type(effect) is Exit:
            self.has_exit = True

    def send(
        self,
        destination: NodeId,
        message: Message,
        version: int,
        timeout_ns: int,
        on_answer: Continuation,
    ) -> None:
        """Send a request to a voter; `on_answer` is called with the answer or None."""
        self.effects.append(
            Send(
                destination=destination,
                correlation=self._await(on_answer),
                message=message,
                version=version,
                timeout_ns=timeout_ns,
            )
        )

    def send_to_broker(
        self,
        destination: NodeId,
        message: Message,
        version: int,
        timeout_ns: int,
        on_answer: Continuation,
    ) -> None:
        """Send a request to a broker's listener; see `send`."""
        self.effects.append(
            Send(
                destination=destination,
                correlation=self._await(on_answer),
                message=message,
                version=version,
                timeout_ns=timeout_ns,
                is_to_broker=True,
            )
        )

    def forward(
        self,
        destination: NodeId,
        event: Received,
        *,
        timeout_ns: int,
        connect_ns: int,
        on_answer: Continuation,
    ) -> None:
        """Forward a client's request in an Envelope (KIP-590)."""
        self.effects.append(
            Forward(
                destination=destination,
                correlation=self._await(on_answer),
                message=event.message,
                version=event.version,
                principal=event.principal,
                client_host=event.client_host,
                client_id=event.client_id,
                client_correlation=event.correlation_id,
                timeout_ns=timeout_ns,
                connect_ns=connect_ns,
            )
        )

    def reply(self, event: Received, message: Message) -> None:
        """Answer a request."""
        self.effects.append(Reply(request=event.request, message=message))

    def resume(self, correlation: int, message: Message | None, now: Instant) -> None:
        """Call the continuation with the answer or None; ignore a second call."""
        continuation = self._continuations.pop(correlation, None)
        if continuation is not None:
            continuation(message, now)

    def drain(self) -> list[Effect]:
        """Return and remove the effects since the last call."""
        effects, self.effects = self.effects, []
        return effects

    def _await(self, continuation: Continuation) -> int:
        self._correlation += 1
        self._continuations[self._correlation] = continuation
        return self._correlation
