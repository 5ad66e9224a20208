"""Compare what a controller answers beside a large change, and at its activation, with plain rules.

The heartbeat of a broker is answered beside a large change, so that no broker in contact is fenced
(KAFKA-15019), but for a broker in controlled shutdown, whose answer depends on the partitions. The
requests that wait for a new controller are decided in their order: those of brokers at once, and
after a request of a client one a step.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.core.bare_controller import (
    CLUSTER_ID,
    BareController,
)
from kraftproof.cluster.simulated.differential.core.registrations import registration
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import (
    Instant,
    Monotonic,
    NodeId,
    Offset,
    WallClock,
    milliseconds,
)
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.metadata.image import BrokerRegistration
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    broker_heartbeat_request,
    create_topics_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

BROKERS: Final = (4, 5, 6)
LARGE: Final = 600
"""Number of partitions, more than a step applies."""
STEPS: Final = 20
"""Number of steps that are enough for any work here."""
REACHED: Final = 1 << 40
IDS, TOPIC = "ids", "topic"


def compare_busy_controllers(random: Random) -> None:
    """Keep a controller busy, and ask it as brokers and as clients.

    Raises:
        DifferenceError: an answer is early or late, or a change is made in another order.
    """
    _compare_sessions(random)
    if random.random() < 0.3:
        _compare_heartbeats(random)
    else:
        _compare_activation(random)


class _Cluster:
    """A controller with brokers."""

    def __init__(self, random: Random) -> None:
        timeouts = Timeouts(session_ns=milliseconds(1 << 40), request_ns=milliseconds(1 << 40))
        self.controller = BareController(random, timeouts)
        self.epochs: dict[int, int] = {}
        for broker in BROKERS:
            directory = Uuid(bytes([broker]) * 16)
            request = registration(random, broker, CLUSTER_ID, None, (directory,))
            self._ask_now(request)
            found = [
                offset
                for offset, one in self.controller.taken()
                if isinstance(one, records.RegisterBrokerRecord)
            ]
            self.epochs[broker] = found[-1]
            self._ask_now(self.heartbeat(broker))

    def _ask_now(self, message: Message) -> None:
        self.controller.ask(message, message.MAX_VERSION)
        self.rest()

    def rest(self) -> None:
        """Let the controller finish its work, and commit everything."""
        for _ in range(STEPS):
            self.controller.commit()
            self.controller.tick()
        same("requests without an answer", sorted(self.controller.unanswered), [])

    def heartbeat(self, broker: int, *, wants_stop: bool = False) -> Message:
        """Return a heartbeat of a broker that has read everything."""
        return broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=broker,
            broker_epoch=self.epochs[broker],
            current_metadata_offset=REACHED,
            want_shut_down=wants_stop,
        )

    def stop(self, broker: int) -> None:
        """Let a broker begin its controlled shutdown."""
        self._ask_now(self.heartbeat(broker, wants_stop=True))

    def create(self, name: str, partitions: int) -> None:
        """Ask for a topic."""
        topic = create_topics_request.CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1
        )
        request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=60_000)
        self.controller.ask(request, request.MAX_VERSION)


def _compare_heartbeats(random: Random) -> None:
    """Send heartbeats beside a large change."""
    cluster = _Cluster(random)
    controller = cluster.controller
    stopping = {broker for broker in BROKERS[:-1] if random.random() < 0.5}
    for broker in stopping:
        cluster.stop(broker)
    controller.answered()
    cluster.create("large", LARGE)
    asked: dict[int, int] = {}
    for broker in random.sample(BROKERS, len(BROKERS)):
        request = cluster.heartbeat(broker)
        asked[controller.ask(request, request.MAX_VERSION)] = broker
    controller.commit()
    controller.commit()
    found = {asked[one.request] for one in controller.answered() if one.request in asked}
    same("heartbeats answered beside a large change", found, set(BROKERS) - stopping)
    cluster.rest()


def _compare_activation(random: Random) -> None:
    """Send requests to a controller whose first record has not committed."""
    cluster = _Cluster(random)
    controller = cluster.controller
    controller.quorum.resign()
    controller.commit()
    controller.quorum.elect()
    controller.tick()
    controller.taken()
    asked: list[str] = []
    for number in range(random.randint(1, 5)):
        kind = random.choice((IDS, IDS, TOPIC))
        asked.append(kind)
        if kind == TOPIC:
            cluster.create(f"t{number}", 1)
        else:
            ids = allocate_producer_ids_request.AllocateProducerIdsRequest(
                broker_id=BROKERS[0], broker_epoch=cluster.epochs[BROKERS[0]]
            )
            controller.ask(ids, ids.MAX_VERSION)
    same("the changes before an activation", _changes(controller), [])
    controller.commit()
    at_once = asked.index(TOPIC) + 1 if TOPIC in asked else len(asked)
    same(f"the changes of an activation, of {asked}", _changes(controller), asked[:at_once])
    for kind in asked[at_once:]:
        check("work is due", controller.deadline is not None)
        controller.tick()
        same("the changes of a step", _changes(controller), [kind])
    cluster.rest()


def _compare_sessions(random: Random) -> None:
    """Let brokers register again and again, and stop: nothing is kept of them in the end."""
    sessions, now_ns = Sessions(milliseconds(9_000)), 0
    for _ in range(STEPS):
        now_ns += milliseconds(random.choice((0, 1_000, 9_000)))
        broker = BrokerRegistration(
            broker_id=NodeId(random.choice(BROKERS)),
            epoch=Offset(random.randrange(9)),
            incarnation=Uuid(b"i" * 16),
            endpoints=(),
            features=(),
            rack=None,
            fenced=False,
            in_controlled_shutdown=True,
        )
        sessions.lease((broker.broker_id,), _instant(now_ns))
        sessions.reach(broker.broker_id, random.randrange(9))
        if random.random() < 0.5:
            sessions.await_moves(broker, random.randrange(9))
        sessions.expire(_instant(now_ns))
    sessions.expire(_instant(now_ns + milliseconds(9_000)))
    kept = {name: getattr(sessions, name) for name in sessions.__slots__ if name != "_session_ns"}
    same("what is kept of brokers without a lease", {k: v for k, v in kept.items() if v}, {})


def _instant(now_ns: int) -> Instant:
    return Instant(Monotonic(now_ns), WallClock(0))


def _changes(controller: BareController) -> list[str]:
    """Return the kinds of changes in the new records, in their order."""
    kinds = {records.ProducerIdsRecord: IDS, records.TopicRecord: TOPIC}
    return [kinds[type(one)] for _, one in controller.taken() if type(one) in kinds]
