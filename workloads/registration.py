"""BrokerIdState registrations of the test's own: clashes, heartbeats, expiry, shutdown, unregistering.

Two contenders share each broker id (workloads/competing_brokers.py), and a ghost goes on under
epochs that have been superseded. The model is `registration` (KIP-631, broker leases and fencing
tokens). The ids start at 1000 and stay apart from the cluster's own brokers.
"""

from typing import ClassVar

from kraftproof.workloads.competing_brokers import (
    BrokerIdSlot,
    BrokerIdState,
    CompetingBroker,
    Lease,
    StaleBroker,
)
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Outcome, Process, Session

FIRST_BROKER_ID = 1000
FINAL_ATTEMPTS = 20
FINAL_PAUSE_NS = 250_000_000


class Registration:
    """Brokers register, keep their sessions alive, fall silent and are unregistered."""

    name: ClassVar[str] = "registration"
    model: ClassVar[str] = "registration"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[BrokerIdState] | None = None

    async def run(self, session: Session) -> None:
        """Let pairs of contenders fight for one id after the other."""
        pairs = max(1, session.load.concurrency // 2)
        pool = KeyPool(session.random, 0, _broker_id, BrokerIdState)
        self._pool = pool
        tasks = []
        for _ in range(pairs):
            slot = BrokerIdSlot(pool)
            tasks += [session.scope.spawn(CompetingBroker(session, slot).run()) for _ in range(2)]
            tasks.append(session.scope.spawn(StaleBroker(session, slot).run()))
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


async def _read(session: Session, process: Process, key: Key[BrokerIdState]) -> bool:
    broker = key.state
    # It asks for nothing: a broker in controlled shutdown would not be fenced at its wish.
    lease = Lease(incarnation=broker.incarnation, epoch=broker.epoch, unfenced=True)
    for _ in range(FINAL_ATTEMPTS):
        completion = await process.invoke("heartbeat", key.name, lease.heartbeat())
        if completion.outcome is Outcome.OK:
            return True
        await session.scope.sleep(FINAL_PAUSE_NS)
    return False
