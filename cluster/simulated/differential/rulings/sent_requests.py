"""Compare the requests that a node sends with what its parts have asked for, and their answers.

Each request has a number of its own, by which the part that asked gets the answer: once, or None
without an answer.
"""

from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock
from kraftproof.node.core.effects import Effect, Exit, Forward, Reply, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import Message, metadata_request, metadata_response
from kraftproof.node.wire.principal import Principal

STEPS: Final = 40
NOW: Final = Instant(Monotonic(5), WallClock(9))
ANSWER: Final = metadata_response.MetadataResponse()
Heard = tuple[int, Message | None, Instant]


def compare_sent_requests(random: Random) -> None:
    """Send, forward, reply and answer, and compare the effects and the continuations.

    Raises:
        DifferenceError: a request has another field, or an answer another receiver.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()


class _Run:
    """An outbox, and what its effects and its answers have to be."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._outbox = Outbox()
        self._sent = 0
        """The number of requests so far, which is the name of the next one."""
        self._open: dict[int, int] = {}
        """The names of the requests without an answer, by their numbers."""
        self._used: set[int] = set()
        self._heard: list[Heard] = []
        self._due: list[Effect] = []

    def step(self) -> None:
        """Let something happen, and compare."""
        random = self._random
        drawn = random.random()
        if drawn < 0.5:
            self._send()
        elif drawn < 0.6:
            event = self._event()
            self._outbox.reply(event, ANSWER)
            self._due.append(Reply(request=event.request, message=ANSWER))
        elif drawn < 0.8:
            self._answer()
        elif drawn < 0.82:
            effect = Exit(status=1, reason="a reason")
            self._outbox.emit(effect)
            self._due.append(effect)
            check("the node ends", self._outbox.has_exit)
        else:
            same("the effects", self._outbox.drain(), self._due)
            same("the effects after they were taken", self._outbox.drain(), [])
            self._due = []

    def _event(self) -> Received:
        random = self._random
        return Received(
            request=random.randrange(9),
            message=metadata_request.MetadataRequest(topics=None),
            version=random.randrange(1, 9),
            on_controller_listener=False,
            principal=Principal(type="User", name=random.choice(("a", "b"))),
            client_host=random.choice(("h", "g")),
            client_id=random.choice(("", "c")),
            correlation_id=random.randrange(9),
        )

    def _send(self) -> None:
        """Send a request to a voter or a broker, or forward one."""
        random, name = self._random, self._sent
        event, timeout_ns = self._event(), random.randrange(1, 1_000)
        destination = NodeId(random.randrange(9))

        def hear(message: Message | None, now: Instant) -> None:
            self._heard.append((name, message, now))

        self._sent += 1
        kind = random.randrange(3)
        arguments = (destination, event.message, event.version, timeout_ns)
        if kind == 2:
            self._outbox.forward(
                destination, event, timeout_ns=timeout_ns, connect_ns=7, on_answer=hear
            )
        else:
            send = self._outbox.send_to_broker if kind else self._outbox.send
            send(*arguments, hear)
        effect = self._outbox.effects[-1]
        assert isinstance(effect, Send | Forward), "its effect"
        number = effect.correlation
        check(f"{number} is a new number", number not in self._used)
        self._used.add(number)
        self._open[number] = name
        wanted: dict[str, Any] = {
            "destination": destination,
            "correlation": number,
            "message": event.message,
            "version": event.version,
            "timeout_ns": timeout_ns,
        }
        self._due.append(
            Forward(
                **wanted,
                principal=event.principal,
                client_host=event.client_host,
                client_id=event.client_id,
                client_correlation=event.correlation_id,
                connect_ns=7,
            )
            if kind == 2
            else Send(**wanted, is_to_broker=kind == 1)
        )

    def _answer(self) -> None:
        """Answer a request, or give its answer up; an unknown number has no receiver."""
        number = self._random.choice((*self._used, 10_000))
        message = self._random.choice((ANSWER, None))
        self._outbox.resume(number, message, NOW)
        name = self._open.pop(number, None)
        due = [] if name is None else [(name, message, NOW)]
        same("the receivers of an answer", self._heard, due)
        self._heard = []
