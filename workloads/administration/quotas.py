"""Quotas: clients move bytes as fast as they may, with and without a quota of their own.

Each key is a client id, whose quotas are set before its first request. Some clients have no quota,
and some have a large quota of their own above a small quota of their client id. The model is
`quotas`.
"""

from typing import ClassVar

from kraftproof.workloads.workload import Outcome, Pacer, Process, Session, Value

RATE = 300
"""The small quota in bytes a second."""
AMPLE = 1_000_000_000
SIZES = (200, 1_500)
"""Bounds of the bytes of a record."""
READ_SHARE = 0.4
STAY_OPERATIONS = (10, 60)
PAUSE_NS = 500_000_000
KINDS: tuple[tuple[tuple[str, int], ...], ...] = (
    (),
    (("client", RATE),),
    (("user+client", RATE),),
    (("client", RATE), ("user+client", AMPLE)),
    (("client", AMPLE), ("user+client", RATE)),
)
"""The entities with their rates, of which each client id has one row."""


class Quotas:
    """Bytes move under quotas: finds quotas without effect, and clients that wait for others."""

    name: ClassVar[str] = "quotas"
    model: ClassVar[str] = "quotas"
    has_data: ClassVar[bool] = True
    faults: ClassVar[tuple[str, ...]] = ("kill", "pause", "partition", "clock")

    def __init__(self) -> None:
        self._topic = ""

    async def run(self, session: Session) -> None:
        """Create the topic and the quotas, and let each client id move bytes."""
        self._topic = f"quotas-{session.run_id}"
        await _until_done(session, "create", self._topic, None)
        pacer = Pacer(session.scope, session.random, session.load.rate)
        count = max(session.load.concurrency, len(KINDS))
        tasks = [
            session.scope.spawn(self._client(session, pacer, number)) for number in range(count)
        ]
        for task in tasks:
            await task

    async def final_reads(self, session: Session) -> int:
        """Ask for nothing: each connection has been judged by itself."""
        del session
        return 0

    async def _client(self, session: Session, pacer: Pacer, number: int) -> None:
        key = f"client-{session.run_id}-{number}"
        kind = KINDS[number % len(KINDS)]
        quotas = [
            {"entity": entity, "quota": quota, "rate": rate}
            for entity, rate in kind
            for quota in ("producer_byte_rate", "consumer_byte_rate")
        ]
        if quotas:
            await _until_done(session, "set", key, {"quotas": quotas})
        while not session.ending:
            process = session.process()
            if not quotas or await _confirm(session, process, key, len(quotas)):
                await self._move(session, pacer, process, key)
            process.close()

    async def _move(self, session: Session, pacer: Pacer, process: Process, key: str) -> None:
        random = session.random
        for _ in range(random.randrange(*STAY_OPERATIONS)):
            await pacer.turn()
            if session.ending:
                return
            f = "read" if random.random() < READ_SHARE else "send"
            value: Value = {"topic": self._topic, "size": random.randint(*SIZES)}
            completion = await process.invoke(f, key, value)
            if completion.outcome is Outcome.INFO or not completion.connected:
                return


async def _confirm(session: Session, process: Process, key: str, count: int) -> bool:
    """Return whether the broker describes all quotas of a client."""
    while not session.ending:
        completion = await process.invoke("confirm", key, None)
        if not completion.connected:
            return False
        if completion.outcome is Outcome.OK and len(completion.value["quotas"]) == count:
            return True
        await session.scope.sleep(PAUSE_NS)
    return False


async def _until_done(session: Session, f: str, key: str, value: Value) -> None:
    process = session.process()
    while not session.ending:
        completion = await process.invoke(f, key, value)
        if completion.outcome is Outcome.OK:
            break
        process.close()
        await session.scope.sleep(PAUSE_NS)
        process = session.process()
    process.close()
