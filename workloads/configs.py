"""Configurations of topics and of all brokers: altered by names, replaced, and described.

Each value is altered once in a run, so that a described value names its alteration. A process
describes through one broker, whose answers must never go back. At the end every broker must show
the latest values. The model is `configs`.
"""

from collections.abc import Mapping
from typing import ClassVar
from zlib import crc32

from kraftproof.workloads.workload import Outcome, Pacer, Session

TOPICS = 2
BROKERS = "brokers"
"""The key of the defaults of all brokers."""
OF_TOPICS = ("retention.ms", "max.message.bytes")
OF_BROKERS = ("log.retention.ms", "message.max.bytes")
"""Configurations that a running broker takes over, with numbers as values."""
FIRST_VALUE = 1_000_000_000
"""Smallest value: large enough to remove no record and to refuse no batch."""
RUNS = 1_000
VALUES_A_RUN = 100_000
ALTER_SHARE = 0.35
LEGACY_SHARE = 0.3
STAY_OPERATIONS = (10, 60)
PAUSE_NS = 500_000_000
FINAL_READS = 8
"""Final reads of a resource in a round; each goes to the next broker."""
FINAL_ROUNDS = 40


class Configs:
    """Configurations are altered and described: finds lost alterations and old answers."""

    name: ClassVar[str] = "configs"
    model: ClassVar[str] = "configs"
    owns_settings: ClassVar[bool] = True

    def __init__(self) -> None:
        self._next = 0
        self._keys: tuple[str, ...] = ()

    async def run(self, session: Session) -> None:
        """Create the topics, and let every client alter and describe."""
        first = crc32(session.run_id.encode()) % RUNS * VALUES_A_RUN
        self._next = FIRST_VALUE + first
        topics = tuple(f"configs-{session.run_id}-{number}" for number in range(TOPICS))
        process = session.process()
        for topic in topics:
            while not session.ending:
                completion = await process.invoke("create", topic, {})
                if completion.outcome is Outcome.OK:
                    break
                process.close()
                await session.scope.sleep(PAUSE_NS)
                process = session.process()
        process.close()
        await _describe_first(session)
        self._keys = (*topics, BROKERS)
        pacer = Pacer(session.scope, session.random, session.load.rate)
        clients = [
            session.scope.spawn(self._client(session, pacer))
            for _ in range(session.load.concurrency)
        ]
        for client in clients:
            await client

    async def final_reads(self, session: Session) -> int:
        """Describe each resource through every broker, until the brokers agree."""
        unread = 0
        for key in self._keys:
            unread += not await _final(session, key)
        return unread

    async def _client(self, session: Session, pacer: Pacer) -> None:
        random = session.random
        while not session.ending:
            process = session.process()
            for _ in range(random.randrange(*STAY_OPERATIONS)):
                await pacer.turn()
                if session.ending:
                    break
                key = random.choice(self._keys)
                if random.random() < ALTER_SHARE:
                    completion = await process.invoke("alter", key, self._draw(session, key))
                else:
                    completion = await process.invoke("describe", key, None)
                if completion.outcome is Outcome.INFO or not completion.connected:
                    break
            process.close()

    def _draw(self, session: Session, key: str) -> Mapping[str, object]:
        """Return an alteration of one or two configurations."""
        random, names = session.random, OF_BROKERS if key == BROKERS else OF_TOPICS
        chosen = random.sample(names, random.choice((1, 1, 2)))
        configs = {}
        for name in sorted(chosen):
            self._next += 1
            configs[name] = str(self._next)
        return {"configs": configs, "is_legacy": random.random() < LEGACY_SHARE}


async def _describe_first(session: Session) -> None:
    """Let the history tell the values that the brokers have from before the run."""
    while not session.ending:
        process = session.process()
        completion = await process.invoke("describe", BROKERS, None)
        process.close()
        if completion.outcome is Outcome.OK:
            return
        await session.scope.sleep(PAUSE_NS)


async def _final(session: Session, key: str) -> bool:
    """Return whether every broker answered in one round."""
    process = session.process()
    is_read = False
    for _ in range(FINAL_ROUNDS):
        answers = [await process.invoke("final", key, None) for _ in range(FINAL_READS)]
        is_read = all(answer.outcome is Outcome.OK for answer in answers)
        shown = [answer.value["configs"] for answer in answers if answer.outcome is Outcome.OK]
        if is_read and all(one == shown[0] for one in shown):
            break
        await session.scope.sleep(PAUSE_NS)
    process.close()
    return is_read
