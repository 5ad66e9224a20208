"""Clients of the registration workload that compete for a broker id.

A competing broker registers, holds the id for a while by heartbeats, and then gives up the id:
silently (some brokers later resume with the old epoch), by a controlled shutdown, or by
unregistering. The second broker of the pair tries to register all the time, so the history shows a
lease that ends too early or never. A stale broker sends heartbeats of superseded epochs, which must
not keep a registration alive.
"""

from dataclasses import dataclass
from random import Random

from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Process, Session, Value

SHUTDOWN_HEARTBEATS = 8
UNFENCED_SHARE = 0.4
FOREIGN_SHARE = 0.05
SAME_SHARE = 0.3
"""Share of registrations that reuse the broker's previous incarnation id."""
AGAIN_SHARE = 0.05
"""Share of the holder's heartbeats replaced by a second registration, as after a lost response."""
ABANDONED_SESSIONS = 7
"""Longest wait of an abandoning broker for its successor, in session timeouts."""
ANOTHER_CLUSTER = "another-cluster-of-kafka"


@dataclass(slots=True, kw_only=True)
class BrokerIdState:
    """The largest granted epoch of a broker id, and a superseded lease."""

    epoch: int = -1
    incarnation: str = ""
    superseded: "Lease | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The epoch that a broker was granted for an incarnation id."""

    incarnation: str
    epoch: int
    unfenced: bool

    def heartbeat(self, *, want_shut_down: bool = False, caught_up: bool = True) -> Value:
        """Return the value of a heartbeat under the lease."""
        value: dict[str, object] = {
            "incarnation": self.incarnation,
            "epoch": self.epoch,
            "want_fence": not self.unfenced,
            "want_shut_down": want_shut_down,
        }
        return value if caught_up else {**value, "caught_up": False}


class BrokerIdSlot:
    """The current broker id of a pair of competing brokers."""

    __slots__ = ("_key", "_pool")

    def __init__(self, pool: KeyPool[BrokerIdState]) -> None:
        self._pool = pool
        self._key = pool.fresh()

    def key(self) -> Key[BrokerIdState]:
        """Return the current id, or a new id if the current id is retired."""
        if self._key.is_retired:
            self._key = self._pool.fresh()
        return self._key


class _Client:
    """Base class of all brokers here: a process with operations at the rate of the load."""

    def __init__(self, session: Session, slot: BrokerIdSlot) -> None:
        self._session = session
        self._slot = slot
        self._process: Process = session.process()
        self._random: Random = session.random

    async def _invoke(self, key: Key[BrokerIdState], f: str, value: Value) -> Completion:
        load = self._session.load
        spacing_ns = int(min(load.concurrency / load.rate * 1e9, load.session_ns / 4))
        await self._sleep(int(spacing_ns * self._random.uniform(0.3, 1.7)))
        key.begin()
        completion = await self._process.invoke(f, key.name, value)
        key.end(completion)
        return completion

    async def _sleep(self, duration_ns: int) -> None:
        await self._session.scope.sleep(duration_ns)

    def _is_over(self, key: Key[BrokerIdState]) -> bool:
        return self._session.ending or key.is_retired


class CompetingBroker(_Client):
    """One of two brokers that want the same id."""

    def __init__(self, session: Session, slot: BrokerIdSlot) -> None:
        super().__init__(session, slot)
        self._incarnation = ""

    async def run(self) -> None:
        """Register, hold and give up the id until the session ends."""
        while not self._session.ending:
            await self._compete(self._slot.key())
        self._process.close()

    async def _compete(self, key: Key[BrokerIdState]) -> None:
        drawn = f"{self._random.getrandbits(128):032x}"
        if not self._incarnation or self._random.random() >= SAME_SHARE:
            self._incarnation = drawn
        lease = await self._register(key, self._incarnation)
        if lease is None:
            return
        alive = await self._hold(key, lease, self._random.randrange(2, 14))
        if not alive:
            key.state.superseded = lease
            return
        give_up = self._random.random()
        if give_up < 0.4:
            await self._expire(key, lease)
        elif give_up < 0.55:
            await self._abandon(key, lease)
        elif give_up < 0.8:
            await self._shut_down(key, lease)
        else:
            await self._invoke(key, "unregister", None)
            await self._hold(key, lease, 1)

    async def _register(self, key: Key[BrokerIdState], incarnation: str) -> Lease | None:
        while not self._is_over(key):
            asked: dict[str, object] = {"incarnation": incarnation}
            is_foreign = self._random.random() < FOREIGN_SHARE
            if is_foreign:
                asked["cluster"] = ANOTHER_CLUSTER
            done = await self._invoke(key, "register", asked)
            if not is_foreign and done.has_outcome("registered"):
                unfenced = self._random.random() < UNFENCED_SHARE
                return self._granted(key, incarnation, done, unfenced=unfenced)
        return None

    def _granted(
        self, key: Key[BrokerIdState], incarnation: str, done: Completion, *, unfenced: bool
    ) -> Lease:
        assert done.value is not None
        epoch = done.value["epoch"]
        assert isinstance(epoch, int)
        if epoch > key.state.epoch:
            key.state.epoch, key.state.incarnation = epoch, incarnation
        return Lease(incarnation=incarnation, epoch=epoch, unfenced=unfenced)

    async def _hold(self, key: Key[BrokerIdState], lease: Lease, heartbeats: int) -> bool:
        """Send heartbeats, the first up to 2 as not caught up; return whether the id is kept."""
        behind = self._random.choice((0, 0, 1, 2))
        for number in range(heartbeats):
            if self._is_over(key):
                return False
            if self._random.random() < AGAIN_SHARE:
                done = await self._invoke(key, "register", {"incarnation": lease.incarnation})
                if done.has_outcome("registered"):
                    lease = self._granted(key, lease.incarnation, done, unfenced=lease.unfenced)
                continue
            value = lease.heartbeat(caught_up=number >= behind)
            done = await self._invoke(key, "heartbeat", value)
            if done.has_outcome("stale"):
                return False
        return True

    async def _expire(self, key: Key[BrokerIdState], lease: Lease) -> None:
        """Pause for about a session timeout, then go on with heartbeats of the old epoch."""
        session_ns = self._session.load.session_ns
        await self._sleep(int(session_ns * self._random.uniform(0.8, 2.2)))
        if not await self._hold(key, lease, self._random.randrange(1, 4)):
            key.state.superseded = lease

    async def _abandon(self, key: Key[BrokerIdState], lease: Lease) -> None:
        """Stay silent until the other broker has the id, or for ABANDONED_SESSIONS timeouts."""
        session_ns = self._session.load.session_ns
        for _ in range(2 * ABANDONED_SESSIONS):
            if self._is_over(key) or key.state.epoch > lease.epoch:
                break
            await self._sleep(session_ns // 2)
        key.state.superseded = lease

    async def _shut_down(self, key: Key[BrokerIdState], lease: Lease) -> None:
        self._incarnation = ""  # a broker that shuts down restarts as a new incarnation
        for _ in range(SHUTDOWN_HEARTBEATS):
            if self._is_over(key):
                return
            value = lease.heartbeat(want_shut_down=True)
            done = await self._invoke(key, "heartbeat", value)
            granted = done.value is not None and done.value.get("should_shut_down") is True
            if granted or done.has_outcome("stale"):
                return


class StaleBroker(_Client):
    """A client that sends heartbeats of a superseded epoch."""

    async def run(self) -> None:
        """Send heartbeats of superseded epochs to the current id, with pauses in between."""
        while not self._session.ending:
            key = self._slot.key()
            session_ns = self._session.load.session_ns
            await self._sleep(int(session_ns * self._random.uniform(0.2, 1.0)))
            for _ in range(self._random.randrange(2, 16)):
                lease = key.state.superseded
                if lease is None or lease.epoch >= key.state.epoch or self._is_over(key):
                    break
                await self._invoke(key, "heartbeat", lease.heartbeat())
        self._process.close()
