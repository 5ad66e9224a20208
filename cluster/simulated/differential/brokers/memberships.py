"""Compare how a broker joins its cluster, stays in it and leaves it, with plain rules."""

from random import Random
from typing import Any, Final, cast

from msgspec import Struct

from kraftproof.cluster.simulated.differential.brokers.drawn_membership import (
    DIRECTORIES,
    draw_config,
)
from kraftproof.cluster.simulated.differential.brokers.membership_model import (
    ENDED,
    NOBODY,
    Asked,
    MembershipModel,
)
from kraftproof.cluster.simulated.differential.brokers.membership_play import (
    MS,
    Chances,
    draw_answer,
    draw_times,
    grow_image,
    request_of,
)
from kraftproof.cluster.simulated.differential.difference import named, same
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.broker.membership import Membership
from kraftproof.node.core.effects import Exit, OpenClientListeners, Send
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox

HISTORIES: Final = 20
STEPS: Final = 50
CONTROLLERS: Final = (7, 8, 9)


class _Quorum:
    """What a broker asks its part of the quorum for."""

    leader = NodeId(NOBODY)


class _Open(Struct):
    """A request without an answer."""

    correlation: int
    asked: Asked


class _Run:
    """One broker beside its model."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._now_ns = random.randint(0, 9)
        chances = Chances()
        chances.is_longest = random.random() < 0.5
        times = draw_times(random)
        self._config = draw_config(random, times)
        self._quorum, self._committed, self._outbox = _Quorum(), CommittedImage(), Outbox()
        self._membership = Membership(
            self._config,
            cast("Any", self._quorum),
            self._committed,
            self._outbox,
            random=chances,
            now=self._now,
        )
        self._model = MembershipModel(times, self._now_ns, is_longest=chances.is_longest)
        self._open: list[_Open] = []
        self._epochs = 5

    @property
    def _now(self) -> Instant:
        return Instant(Monotonic(self._now_ns), WallClock(self._now_ns))

    def run(self) -> None:
        """Take drawn steps until the broker has ended."""
        self._lead()
        self._compare()
        for _ in range(STEPS):
            steps = [self._wait] * 4 + [self._lead, self._apply, self._apply]
            steps += [self._answer] * (6 * bool(self._open))
            if self._random.random() < 0.1:
                steps = [self._stop, self._fail]
            self._random.choice(steps)()
            self._compare()
            if self._model.state == ENDED and not self._open:
                return

    # The steps

    def _wait(self) -> None:
        at = self._model.next_time()
        wanted = self._now_ns + self._random.randint(0, 90 * MS)
        if at is not None:
            wanted = self._random.choice((at, at, at - 1))
        self._now_ns = max(self._now_ns, wanted)
        self._membership.tick(self._now)
        self._model.tick(self._now_ns)

    def _lead(self) -> None:
        """Let another controller lead, or none."""
        leader = self._random.choice((NOBODY, *CONTROLLERS, *CONTROLLERS))
        self._quorum.leader = NodeId(leader)
        self._model.known.leader = leader

    def _apply(self) -> None:
        """Let the committed image grow, maybe with the registration of the broker."""
        image, end = grow_image(self._random, self._config, self._model)
        self._committed.image, self._committed.offset = image, Offset(end)

    def _stop(self) -> None:
        self._membership.stop(self._now)
        self._model.stop(self._now_ns)

    def _fail(self) -> None:
        directory = self._random.choice(DIRECTORIES)
        self._membership.directory_failed(directory, self._now)
        self._model.directory_failed(directory, self._now_ns)

    def _answer(self) -> None:
        random, model = self._random, self._model
        one = self._open.pop(random.randrange(len(self._open)))
        self._epochs += random.randint(1, 2)
        message = draw_answer(random, model, one.asked, self._now_ns, self._epochs)
        self._outbox.resume(one.correlation, message, self._now)

    # The comparison

    def _compare(self) -> None:
        model, membership = self._model, self._membership
        membership.advance(self._now)
        model.advance(self._now_ns)
        effects = self._outbox.drain()
        sent = [effect for effect in effects if isinstance(effect, Send)]
        same("the number of requests", len(sent), len(model.sent))
        for one, asked in zip(sent, model.sent, strict=True):
            same("who is asked", one.destination, asked.controller)
            expected = request_of(self._config, asked)
            same("the request and its version", (one.message, one.version), expected)
            same("its time-out", one.timeout_ns, self._config.timeouts.request_ns)
            self._open.append(_Open(one.correlation, asked))
        model.sent = []
        opened = any(isinstance(effect, OpenClientListeners) for effect in effects)
        same("the listeners are opened", opened, model.opens_listeners)
        model.opens_listeners = False
        exits = [effect for effect in effects if isinstance(effect, Exit)]
        due = [] if model.ending is None else [model.ending.status]
        same("the ends", [one.status for one in exits], due)
        if model.ending is not None:
            named("the reason to end", exits[0].reason, *model.ending.words)
        model.ending = None
        found = (membership.state, membership.broker_epoch, membership.is_caught_up)
        epoch = -1 if model.epoch is None else model.epoch
        same("state, epoch and catch-up", found, (model.state, epoch, model.has_caught_up))
        same("the next event", membership.deadline(), model.next_time())


def compare_memberships(random: Random) -> None:
    """Let drawn brokers join, stay and leave.

    Raises:
        DifferenceError: a request, a state or a time is not what KIP-631 demands.
    """
    for _ in range(HISTORIES):
        _Run(random).run()
