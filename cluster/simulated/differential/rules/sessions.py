"""Compare the sessions of brokers with plain tables (KIP-631 "Broker Leases", 631-60).

A broker that stops in order waits until all brokers that may lead have read its moves. The wait
belongs to one registration: after the next registration, other moves count. When a session expires,
the controller forgets the metadata offset and the moves of the broker.
"""

from random import Random
from typing import Final

from immutables import Map

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage
from kraftproof.node.wire.types import Uuid

STEPS: Final = 60
BROKERS: Final = (1, 2, 3)
SESSION_NS: Final = 9_000
NONE: Final = -1


def compare_sessions(random: Random) -> None:
    """Register and stop brokers, renew their leases, note their offsets, and expire their sessions.

    Raises:
        DifferenceError: a session, a grant or an expiry differs from the tables.
    """
    play = _Play(random)
    for _ in range(STEPS):
        random.choice(
            (play.register, play.lease, play.lease, play.reach, play.reach, play.stop, play.expire)
        )()
        play.compare()


class _Play:
    """The sessions of a controller, and tables of leases, metadata offsets and moves."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._sessions = Sessions(SESSION_NS)
        self._now_ns = 0
        self._offset = 0
        self._contacts: dict[int, int] = {}
        self._reached: dict[int, int] = {}
        self._moved: dict[tuple[int, int], int] = {}
        """The last offset of the moves, by id and epoch of the broker."""
        self._brokers = {broker: self._draw(broker) for broker in BROKERS}

    @property
    def _now(self) -> Instant:
        # A step of the wall clock changes nothing.
        wall = self._random.choice((0, self._now_ns, 10**18))
        return Instant(monotonic=Monotonic(self._now_ns), wall=WallClock(wall))

    def register(self) -> None:
        """Register a broker anew, or change its state."""
        broker = self._random.choice(BROKERS)
        self._offset += 1
        self._brokers[broker] = self._draw(broker)

    def lease(self) -> None:
        """Renew the leases of brokers after some time."""
        self._now_ns += self._random.choice((1, 1_000, SESSION_NS - 1, SESSION_NS))
        heard = self._random.sample(BROKERS, self._random.randint(1, 2))
        self._sessions.lease(map(NodeId, heard), self._now)
        self._contacts |= dict.fromkeys(heard, self._now_ns)

    def reach(self) -> None:
        """Note the metadata offset of a broker."""
        broker, offset = self._random.choice(BROKERS), self._offset - self._random.randint(0, 1)
        self._sessions.reach(NodeId(broker), offset)
        self._reached[broker] = offset

    def stop(self) -> None:
        """Note the moves of a broker; the moves of a further request do not count."""
        broker = self._brokers[self._random.choice(BROKERS)]
        self._offset += 1
        self._sessions.await_moves(broker, self._offset)
        self._moved.setdefault((broker.broker_id, broker.epoch), self._offset)

    def expire(self) -> None:
        """Expire the sessions after some time."""
        self._now_ns += self._random.choice((0, 1, SESSION_NS - 1))
        due = sorted(one for one in self._contacts if not self._is_live(one))
        same("the expired sessions", self._sessions.expire(self._now), due)
        for broker in due:
            del self._contacts[broker]
            self._reached.pop(broker, None)
            self._moved = {key: end for key, end in self._moved.items() if key[0] != broker}

    def compare(self) -> None:
        """Compare the sessions with the tables."""
        image = MetadataImage(brokers=Map({one.broker_id: one for one in self._brokers.values()}))
        for number, broker in self._brokers.items():
            is_live = self._sessions.is_live(broker.broker_id, self._now)
            same(f"the lease of broker {number}", is_live, self._is_live(number))
            is_seen = self._sessions.moves_are_seen(image, broker)
            moves = f"the moves of broker {number} in epoch {broker.epoch}"
            same(f"{moves} are seen", is_seen, self._is_seen(broker))
        ends = [begin + SESSION_NS for begin in self._contacts.values()]
        same("the next expiry", self._sessions.deadline(), min(ends, default=None))

    def _is_live(self, broker: int) -> bool:
        begin = self._contacts.get(broker)
        return begin is not None and self._now_ns - begin < SESSION_NS

    def _is_seen(self, stopping: BrokerRegistration) -> bool:
        end = self._moved.get((stopping.broker_id, stopping.epoch))
        leading = [one for one in self._brokers.values() if one.may_lead]
        return end is not None and all(
            self._reached.get(one.broker_id, NONE) >= end for one in leading
        )

    def _draw(self, broker: int) -> BrokerRegistration:
        is_fenced, is_stopping = (self._random.random() < 0.3 for _ in range(2))
        return BrokerRegistration(
            broker_id=NodeId(broker),
            epoch=Offset(self._offset),
            incarnation=Uuid(b"i" * 16),
            endpoints=(),
            features=(),
            rack=None,
            fenced=is_fenced,
            in_controlled_shutdown=is_stopping,
        )
