"""Effects in the making, and who waits for which answer. Not: what the effects mean."""

from collections.abc import Callable

from kraftproof.node.core.base.types import Instant, NodeId
from kraftproof.node.core.effects import Effect, Exit, Forward, Reply, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message

Continuation = Callable[[Message | None, Instant], None]
"""Called once with the answer, or with None when it was lost."""


class Outbox:
    """The ordered effects of one step, and the continuations of what was sent before."""

    __slots__ = ("_continuations", "_correlation", "effects", "has_exit")

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        """What waits to be drained; a change of the quorum's state always adds something."""
        self._continuations: dict[int, Continuation] = {}
        self._correlation = 0
        self.has_exit = False
        """Whether an Exit has ever been asked for."""

    def emit(self, effect: Effect) -> None:
        """Add an effect after all that went before."""
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
        """Ask a voter; `on_answer` gets the answer or None."""
        self.effects.append(
            Send(
                destination=destination,
                correlation=self._await(on_answer),
                message=message,
                version=version,
                timeout_ns=timeout_ns,
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
        """Pass a client's request on in an Envelope (KIP-590)."""
        self.effects.append(
            Forward(
                destination=destination,
                correlation=self._await(on_answer),
                message=event.message,
                version=event.version,
                principal=event.principal,
                client_host=event.client_host,
                timeout_ns=timeout_ns,
                connect_ns=connect_ns,
            )
        )

    def reply(self, event: Received, message: Message) -> None:
        """Answer a request."""
        self.effects.append(Reply(request=event.request, message=message))

    def resume(self, correlation: int, message: Message | None, now: Instant) -> None:
        """Hand an answer, or its loss, to whoever waits for it; a second one is ignored."""
        continuation = self._continuations.pop(correlation, None)
        if continuation is not None:
            continuation(message, now)

    def drain(self) -> list[Effect]:
        """Take the effects gathered since the last call."""
        effects, self.effects = self.effects, []
        return effects

    def _await(self, continuation: Continuation) -> int:
        self._correlation += 1
        self._continuations[self._correlation] = continuation
        return self._correlation
