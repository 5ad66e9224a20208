"""Broker registrations of the test's own: clashes, heartbeats, expiry, shutdown, unregistering.

Two contenders share each broker id, each with incarnations of its own. Whoever registers holds
the id for a while by heartbeats, then gives it up: silently (and later tries its old epoch
again), by a controlled shutdown, or by unregistering. The other one keeps trying meanwhile, so
that a lease that ends early or never is seen. The model is `registration` (KIP-631, broker
leases and fencing tokens). The ids start at 1000 and stay apart from the cluster's own brokers.
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from workloads.keys import Key, KeyPool
from workloads.workload import Completion, Outcome, Process, Session, Value

FIRST_BROKER_ID = 1000
FINAL_ATTEMPTS = 20
FINAL_PAUSE_NS = 250_000_000
SHUTDOWN_HEARTBEATS = 8
UNFENCED_SHARE = 0.2


@dataclass(slots=True, kw_only=True)
class _Broker:
    """The largest epoch that anybody was granted for one id."""

    epoch: int = -1
    incarnation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    incarnation: str
    epoch: int
    unfenced: bool

    def heartbeat(self, *, want_shut_down: bool = False) -> Value:
        """The value of a heartbeat under this lease."""
        return {
            "incarnation": self.incarnation,
            "epoch": self.epoch,
            "want_fence": not self.unfenced,
            "want_shut_down": want_shut_down,
        }


class Registration:
    """The registration workload."""

    name: ClassVar[str] = "registration"
    model: ClassVar[str] = "registration"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[_Broker] | None = None

    async def run(self, session: Session) -> None:
        """Let pairs of contenders fight for one id after the other."""
        pairs = max(1, session.load.concurrency // 2)
        pool = KeyPool(session.random, 0, _broker_id, _Broker)
        self._pool = pool
        tasks = []
        for _ in range(pairs):
            place = _Place(pool)
            tasks += [session.scope.spawn(_Contender(session, place).run()) for _ in range(2)]
        for task in tasks:
            await task

    async def final_reads(self, session: Session) -> int:
        """Ask for the last known lease of every id whether it is alive or stale."""
        assert self._pool is not None
        process = session.process()
        unread = 0
        for key in self._pool.used:
            if key.state.epoch >= 0 and not await _read(session, process, key):
                unread += 1
        process.close()
        return unread


def _broker_id(number: int) -> str:
    return str(FIRST_BROKER_ID + number)


class _Place:
    """The id that a pair fights for at present."""

    __slots__ = ("_key", "_pool")

    def __init__(self, pool: KeyPool[_Broker]) -> None:
        self._pool = pool
        self._key = pool.fresh()

    def key(self) -> Key[_Broker]:
        """Return the present id, or a new one when it is retired."""
        if self._key.is_retired:
            self._key = self._pool.fresh()
        return self._key


class _Contender:
    """One of the two that want an id."""

    __slots__ = ("_place", "_process", "_random", "_session")

    def __init__(self, session: Session, place: _Place) -> None:
        self._session = session
        self._place = place
        self._process: Process = session.process()
        self._random: Random = session.random

    async def run(self) -> None:
        """Register, hold, give up, again and again."""
        while not self._session.ending:
            await self._contend(self._place.key())
        self._process.close()

    async def _contend(self, key: Key[_Broker]) -> None:
        incarnation = f"{self._random.getrandbits(128):032x}"
        lease = await self._register(key, incarnation)
        if lease is None:
            return
        alive = await self._hold(key, lease, self._random.randrange(2, 14))
        if not alive:
            return
        give_up = self._random.random()
        if give_up < 0.5:
            await self._expire(key, lease)
        elif give_up < 0.75:
            await self._shut_down(key, lease)
        else:
            await self._invoke(key, "unregister", None)
            await self._hold(key, lease, 1)

    async def _register(self, key: Key[_Broker], incarnation: str) -> _Lease | None:
        while not self._session.ending and not key.is_retired:
            done = await self._invoke(key, "register", {"incarnation": incarnation})
            if not done.told("registered"):
                continue
            assert done.value is not None
            epoch = done.value["epoch"]
            assert isinstance(epoch, int)
            if epoch > key.state.epoch:
                key.state.epoch, key.state.incarnation = epoch, incarnation
            unfenced = self._random.random() < UNFENCED_SHARE
            return _Lease(incarnation=incarnation, epoch=epoch, unfenced=unfenced)
        return None

    async def _hold(self, key: Key[_Broker], lease: _Lease, heartbeats: int) -> bool:
        for _ in range(heartbeats):
            if self._session.ending or key.is_retired:
                return False
            done = await self._invoke(key, "heartbeat", lease.heartbeat())
            if done.told("stale"):
                return False
        return True

    async def _expire(self, key: Key[_Broker], lease: _Lease) -> None:
        """Fall silent for longer than the session; then say it was alive all the time."""
        session_ns = self._session.load.session_ns
        await self._sleep(int(session_ns * self._random.uniform(0.8, 2.2)))
        await self._hold(key, lease, self._random.randrange(1, 4))

    async def _shut_down(self, key: Key[_Broker], lease: _Lease) -> None:
        for _ in range(SHUTDOWN_HEARTBEATS):
            if self._session.ending or key.is_retired:
                return
            value = lease.heartbeat(want_shut_down=True)
            done = await self._invoke(key, "heartbeat", value)
            granted = done.value is not None and done.value.get("should_shut_down") is True
            if granted or done.told("stale"):
                return

    async def _invoke(self, key: Key[_Broker], f: str, value: Value) -> Completion:
        load = self._session.load
        spacing_ns = int(min(load.concurrency / load.rate * 1e9, load.session_ns / 4))
        await self._sleep(int(spacing_ns * self._random.uniform(0.3, 1.7)))
        key.begin()
        completion = await self._process.invoke(f, key.name, value)
        key.end(completion)
        return completion

    async def _sleep(self, duration_ns: int) -> None:
        await self._session.scope.sleep(duration_ns)


async def _read(session: Session, process: Process, key: Key[_Broker]) -> bool:
    broker = key.state
    # It asks for nothing: a broker in controlled shutdown would not be fenced at its wish.
    lease = _Lease(incarnation=broker.incarnation, epoch=broker.epoch, unfenced=True)
    for _ in range(FINAL_ATTEMPTS):
        completion = await process.invoke("heartbeat", key.name, lease.heartbeat())
        if completion.outcome is Outcome.OK:
            return True
        await session.scope.sleep(FINAL_PAUSE_NS)
    return False
