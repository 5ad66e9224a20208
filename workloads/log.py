"""Partitions: producers send unique values, readers assign, follow and read again.

A value such as "3.17@k3f9a" is the 17th send of producer session 3 of the run. Each session draws
its acknowledgements (all, 1 or 0) and whether the producer is idempotent; after an indeterminate
send or a lost connection another session begins. Readers begin at the first offset, at the end of
what they have seen, or somewhere between. At the end each partition without an acknowledged send
gets a send, and each partition is read from its leader, from the begin of the log to its end. The
model is `log`.
"""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import ClassVar

from kraftproof.workloads.endings.final_reads import ATTEMPTS, PAUSE_NS
from kraftproof.workloads.endings.final_sends import (
    create_topic,
    is_acknowledged,
    send_until_acknowledged,
)
from kraftproof.workloads.workload import Completion, Outcome, Pacer, Process, Session, Value

STAY_OPERATIONS = (10, 80)
"""The fewest and the most operations of a producer session, or of a reader's assignment."""
ACKS = (-1, -1, -1, -1, 1, 0)
"""The acknowledgements of a session, drawn evenly; -1 waits for all in-sync replicas."""
IDEMPOTENT_SHARE = 0.5
REREAD_SHARE = 0.5
MOST_PARTITIONS = 8
FINAL_ATTEMPTS = 240
"""Final reads of a partition until one succeeds, a minute's worth.

A restarted broker waits for the end of its former session, and a new leader for members of the ISR
that copy a lost log again; without a final read, no acknowledged record of the run is judged.
"""


@dataclass(slots=True, kw_only=True)
class _Partitions:
    """The partitions of the run, and what the run knows of them."""

    keys: tuple[str, ...]
    is_created: bool = False
    acknowledged: set[str] = field(default_factory=set)
    """The partitions with a send whose offset was answered."""
    sessions: int = 0
    """The producer sessions that have begun."""
    seen: dict[str, int] = field(default_factory=dict)
    """The offset after the last record that any reader received."""

    def begin_session(self) -> int:
        """Return the number of a new producer session."""
        self.sessions += 1
        return self.sessions - 1


class Log:
    """Produce and consume: finds lost, repeated, reordered and foreign records."""

    name: ClassVar[str] = "log"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True

    __slots__ = ("_partitions",)

    def __init__(self) -> None:
        self._partitions = _Partitions(keys=())

    async def run(self, session: Session) -> None:
        """Let half of the clients produce, and the other half read."""
        load = session.load
        size = min(MOST_PARTITIONS, max(1, load.concurrency // 3))
        keys = tuple(f"log-{session.run_id}-{number}" for number in range(size))
        self._partitions = _Partitions(keys=keys)
        if not await self._created(session):
            return
        pacer = Pacer(session.scope, session.random, load.rate)
        producers = max(1, load.concurrency // 2)
        readers = max(1, load.concurrency - producers)
        clients = [
            *(
                session.scope.spawn(_produce(session, pacer, self._partitions))
                for _ in range(producers)
            ),
            *(session.scope.spawn(_read(session, pacer, self._partitions)) for _ in range(readers)),
            *(session.scope.spawn(other) for other in self.others(session, keys)),
        ]
        for client in clients:
            await client

    def shape(self, partitions: int) -> dict[str, int]:
        """Return the value of the operation that creates the topic."""
        return {"partitions": partitions}

    def others(
        self, session: Session, keys: Sequence[str]
    ) -> Sequence[Coroutine[object, object, None]]:
        """Return further clients; by default none."""
        del session, keys
        return ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The partitions of the run."""
        return self._partitions.keys

    async def settle(self, session: Session) -> int:
        """Wait before the final reads; return the number of partitions not seen, by default 0."""
        del session
        return 0

    async def final_reads(self, session: Session) -> int:
        """Read every partition from begin to end; return the number of partitions not read.

        After a partition that was not read, each further one has a short time only.
        """
        await self._send_to_the_rest(session)
        unread, attempts = await self.settle(session), FINAL_ATTEMPTS
        process = session.process()
        for key in self.keys:
            is_read = await read_whole(session, process, key, attempts)
            attempts = FINAL_ATTEMPTS if is_read else ATTEMPTS
            unread += not is_read
        process.close()
        return unread

    async def _created(self, session: Session) -> bool:
        """Create the topic; return whether the topic exists before the run ends."""
        process, shape = session.process(), self.shape(len(self.keys))
        while not (session.ending or self._partitions.is_created):
            is_created = await create_topic(session, process, self.keys[0], shape, 1)
            self._partitions.is_created = is_created
        process.close()
        return not session.ending

    async def _send_to_the_rest(self, session: Session) -> None:
        """Create the topic if need be, and send to partitions without an acknowledged send."""
        partitions, attempts = self._partitions, FINAL_ATTEMPTS

        def last_value(_: int) -> Value:
            value = f"{partitions.begin_session()}.0@{session.run_id}"
            return {"value": value, "acks": -1, "idempotent": False}

        if partitions.keys and not partitions.is_created:
            process, shape = session.process(), self.shape(len(self.keys))
            await create_topic(session, process, self.keys[0], shape, attempts)
            process.close()
        for key in partitions.keys:
            if key in partitions.acknowledged:
                continue
            is_sent = await send_until_acknowledged(session, key, count(), last_value, attempts)
            attempts = FINAL_ATTEMPTS if is_sent else ATTEMPTS


def _is_over(completion: Completion) -> bool:
    """Return whether the operation ends the producer session, as it ends the process."""
    return completion.outcome is Outcome.INFO or not completion.connected


async def _produce(session: Session, pacer: Pacer, partitions: _Partitions) -> None:
    random = session.random
    while not session.ending:
        process, number = session.process(), partitions.begin_session()
        acks, idempotent = random.choice(ACKS), random.random() < IDEMPOTENT_SHARE
        for sequence in range(random.randrange(*STAY_OPERATIONS)):
            await pacer.turn()
            if session.ending:
                break
            value = {
                "value": f"{number}.{sequence}@{session.run_id}",
                "acks": -1 if idempotent else acks,
                "idempotent": idempotent,
            }
            key = random.choice(partitions.keys)
            completion = await process.invoke("send", key, value)
            if is_acknowledged(completion):
                partitions.acknowledged.add(key)
            if _is_over(completion):
                break
        process.close()


async def _read(session: Session, pacer: Pacer, partitions: _Partitions) -> None:
    random = session.random
    while not session.ending:
        process, key = session.process(), random.choice(partitions.keys)
        position = _begin(random, partitions.seen.get(key, 0))
        await process.invoke("assign", key, {"position": position})
        for _ in range(random.randrange(*STAY_OPERATIONS)):
            await pacer.turn()
            if session.ending:
                break
            completion = await process.invoke("poll", key, {"position": position})
            position = _next(completion, position)
            if completion.outcome is Outcome.OK:
                partitions.seen[key] = max(position, partitions.seen.get(key, 0))
        process.close()


def _begin(random: Random, seen: int) -> int:
    """Draw the first offset of an assignment: the end of what was seen, or an offset before."""
    return random.randrange(seen + 1) if random.random() < REREAD_SHARE else seen


def _next(completion: Completion, position: int) -> int:
    """Return the offset after the last record of an answer."""
    if completion.outcome is not Outcome.OK or not completion.value["records"]:
        return position
    return int(completion.value["records"][-1][0]) + 1


async def read_whole(
    session: Session, process: Process, key: str, attempts: int = ATTEMPTS
) -> bool:
    """Read a partition in parts until its end; return whether the end was reached.

    Args:
        session: the run.
        process: the reader.
        key: the partition.
        attempts: the reads of a part until one succeeds.
    """
    position: int | None = None
    left = attempts
    while left:
        completion = await process.invoke("final", key, {"position": position})
        if completion.outcome is not Outcome.OK:
            left -= 1
            await session.scope.sleep(PAUSE_NS)
            continue
        value = completion.value
        if not value["records"]:
            return True
        position, left = _next(completion, 0), attempts
        if position >= value["end"]:
            return True
    return False
