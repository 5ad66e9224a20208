"""The registration workload: clients register as brokers, send heartbeats, expire and unregister.

Two competing brokers share each broker id, and a stale broker sends heartbeats of superseded epochs
(competing_brokers.py). The model is `registration` (KIP-631: broker leases and fencing by epochs).
The broker ids start at 1000, so the ids never clash with the brokers of the cluster.
"""

from typing import ClassVar

from kraftproof.workloads.competing_brokers import (
    BrokerIdSlot,
    BrokerIdState,
    CompetingBroker,
    Lease,
    StaleBroker,
)
from kraftproof.workloads.endings.final_reads import read_each
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Process, Session

FIRST_BROKER_ID = 1000


class Registration:
    """Broker registrations, heartbeats, session expiry, controlled shutdown and unregistration."""

    name: ClassVar[str] = "registration"
    model: ClassVar[str] = "registration"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[BrokerIdState] | None = None

    async def run(self, session: Session) -> None:
        """Run pairs of competing brokers and a stale broker for each pair."""
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
        """Send a heartbeat for the last known lease of each id; the answer is alive or stale."""
        assert self._pool is not None
        used = [key for key in self._pool.used if key.state.epoch >= 0]
        return await read_each(session, used, _read)


def _broker_id(number: int) -> str:
    return str(FIRST_BROKER_ID + number)


async def _read(process: Process, key: Key[BrokerIdState]) -> Completion:
    broker = key.state
    # No want_fence: a controller does not fence a broker in controlled shutdown on request.
    lease = Lease(incarnation=broker.incarnation, epoch=broker.epoch, unfenced=True)
    return await process.invoke("heartbeat", key.name, lease.heartbeat())
