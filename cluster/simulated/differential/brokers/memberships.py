"""Compare how a broker joins its cluster, stays in it and leaves it, with plain rules."""

from random import Random
from typing import Any, Final, cast

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.brokers.drawn_membership import (
    DIRECTORIES,
    draw_config,
    registration_of,
)
from kraftproof.cluster.simulated.differential.brokers.membership_model import (
    ENDED,
    NOBODY,
    STALE_EPOCH,
    STARTING,
    STOPPING,
    UNSUPPORTED,
    Asked,
    Known,
    MembershipModel,
)
from kraftproof.cluster.simulated.differential.difference import named, same
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.broker.membership import Membership
from kraftproof.node.core.effects import Exit, OpenClientListeners, Send
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from kraftproof.node.wire.types import Uuid

HISTORIES: Final = 20
STEPS: Final = 50
MS: Final = 1_000_000
CONTROLLERS: Final = (7, 8, 9)
REFUSALS: Final = (41, 42, 102, 103, UNSUPPORTED)
OTHER_ERRORS: Final = (41, 8, 31)
DIRECTORIES_FROM: Final = 17
SUPPORTED: Final = range(7, 31)
"""The levels of metadata.version of this node, none of which is a level of the other feature."""
VERSIONS: Final = {True: 4, False: 1}
"""The versions of registrations and of heartbeats."""


class _Chances(Random):
    """Draws the least or the greatest number of a range."""

    is_longest = False

    @override
    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Return the first or the last number below an end."""
        return start - 1 if self.is_longest else 0


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
        chances = _Chances()
        chances.is_longest = random.random() < 0.5
        times = Timeouts(
            request_ns=random.randint(50, 2000) * MS,
            retry_backoff_ns=random.choice((2, 20, 30)) * MS,
            retry_backoff_max_ns=random.choice((70, 1000)) * MS,
            heartbeat_interval_ns=random.choice((100, 300)) * MS,
            session_ns=random.choice((200, 900)) * MS,
            initial_registration_ns=random.choice((200, 6000)) * MS,
            directory_failure_ns=random.choice((60, 500)) * MS,
        )
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
        random, model = self._random, self._model
        end = model.known.end + random.choice((0, 1, 1, 3))
        level = random.choice((6, 7, 16, 17, 30, 31))
        features = {"metadata.version": level}
        if random.random() < 0.3:
            features["another.feature"] = 3
        foreign = [f"{name} {found}" for name, found in features.items() if found not in SUPPORTED]
        own = None if model.epoch is None or random.random() < 0.3 else model.epoch
        if own is not None and random.random() < 0.2:
            own -= 1
        has_directories = random.random() < 0.5 or not self._config.log_dirs
        image = replace(EMPTY_IMAGE, features=Map(features))
        if own is not None:
            directories = DIRECTORIES[:1] if has_directories else ()
            node = self._config.node_id
            image = replace(image, brokers=Map({node: registration_of(node, own, directories)}))
        self._committed.image, self._committed.offset = image, Offset(end)
        model.known = Known(
            leader=model.known.leader,
            end=end,
            own_epoch=own,
            has_directories=has_directories or own is None,
            names_directories=level >= DIRECTORIES_FROM,
            foreign=tuple(foreign),
        )

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
        message: Message | None = None
        if random.random() < 0.25:
            model.lost(one.asked, self._now_ns)
        elif one.asked.is_registration:
            error = random.choice((0, 0, 0, random.choice(REFUSALS)))
            self._epochs += random.randint(1, 2)
            model.registered(one.asked, error, self._epochs, self._now_ns)
            message = broker_registration_response.BrokerRegistrationResponse(
                error_code=error, broker_epoch=-1 if error else self._epochs
            )
        else:
            error = random.choice((0, 0, 0, 0, 0, STALE_EPOCH, random.choice(OTHER_ERRORS)))
            is_fenced, may_end = random.random() < 0.5, random.random() < 0.3
            model.answered(one.asked, error, self._now_ns, is_fenced=is_fenced, may_end=may_end)
            message = broker_heartbeat_response.BrokerHeartbeatResponse(
                error_code=error, is_fenced=is_fenced, should_shut_down=may_end
            )
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
            same("the request", one.message, self._request(asked))
            same("its version", one.version, VERSIONS[asked.is_registration])
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

    def _request(self, asked: Asked) -> Message:
        config = self._config
        if not asked.is_registration:
            return broker_heartbeat_request.BrokerHeartbeatRequest(
                broker_id=config.node_id,
                broker_epoch=asked.epoch,
                current_metadata_offset=asked.end - 1,
                want_fence=asked.state == STARTING,
                want_shut_down=asked.state == STOPPING,
                offline_log_dirs=tuple(map(Uuid, asked.failed)),
            )
        listeners = tuple(
            broker_registration_request.Listener(
                name=one.name, host=one.host, port=one.port, security_protocol=number
            )
            for number, one in enumerate(config.endpoints)
            if not one.is_controller
        )
        feature = broker_registration_request.Feature(
            name="metadata.version", min_supported_version=7, max_supported_version=30
        )
        return broker_registration_request.BrokerRegistrationRequest(
            broker_id=config.node_id,
            cluster_id=config.cluster_id,
            incarnation_id=config.incarnation,
            listeners=listeners,
            features=(feature,),
            rack=config.rack,
            log_dirs=tuple(one for one in config.log_dirs if one not in asked.failed),
            previous_broker_epoch=config.previous_broker_epoch,
        )


def compare_memberships(random: Random) -> None:
    """Let drawn brokers join, stay and leave.

    Raises:
        DifferenceError: a request, a state or a time is not what KIP-631 demands.
    """
    for _ in range(HISTORIES):
        _Run(random).run()
