"""Topics that come and go: created, produced to, read to the end, and deleted at once.

The segments are tiny, so that a broker rolls and flushes segments while a topic is deleted: after
the read, further sends with acks=1, whose loss is declared, go on until the deletion. Each client
works on a topic of its own. A topic is deleted when each partition has an acknowledged send and a
read to the end; reads and sends prevented by faults are made after the faults.
The keys are the partitions; the model is `log`.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import ClassVar

from kraftproof.workloads.endings.final_reads import ATTEMPTS
from kraftproof.workloads.endings.final_sends import (
    create_topic,
    is_acknowledged,
    send_until_acknowledged,
)
from kraftproof.workloads.log import FINAL_ATTEMPTS, read_whole
from kraftproof.workloads.workload import Outcome, Pacer, Process, Session, Value

PARTITIONS = 3
SENDS = 12
"""Sends to a partition, each larger than half a segment."""
SEGMENT_BYTES = 2_000
PADDING_BYTES = 1_200
LATE_SENDS = 40
"""The most sends to a partition between the read and the deletion."""
DELETION_NS = 150_000_000
"""The longest time from the begin of the late sends to the deletion."""


@dataclass(slots=True, kw_only=True)
class _Topic:
    """A topic of the run, and its progress."""

    keys: tuple[str, ...]
    is_created: bool = False
    acknowledged: set[str] = field(default_factory=set)
    """The partitions with a send whose offset was answered."""
    read: set[str] = field(default_factory=set)
    """The partitions read to the end."""
    resends: defaultdict[str, Iterator[int]] = field(default_factory=lambda: defaultdict(count))
    """By partition, the numbers of the sends after the first ones, which no offset answered."""


class LogTopics:
    """Short-lived topics are written, read and deleted: finds lost records and dying brokers."""

    name: ClassVar[str] = "log-topics"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True

    __slots__ = ("_begun", "_topics")

    def __init__(self) -> None:
        self._topics = 0
        self._begun: list[_Topic] = []
        """The topics before their deletion."""

    async def run(self, session: Session) -> None:
        """Let each client create, fill, read and delete topics, one after the other."""
        pacer = Pacer(session.scope, session.random, session.load.rate)
        clients = [
            session.scope.spawn(self._client(session, pacer))
            for _ in range(session.load.concurrency)
        ]
        for client in clients:
            await client

    async def final_reads(self, session: Session) -> int:
        """Check the kept topics; return the number of partitions not read.

        Each other partition was read before its deletion. After a partition that was not read,
        each further one has a short time only.
        """
        process, unread, attempts = session.process(), 0, FINAL_ATTEMPTS
        for topic in self._begun:
            for key in topic.keys:
                is_checked = await _is_checked(session, process, topic, key, attempts)
                attempts = FINAL_ATTEMPTS if is_checked else ATTEMPTS
                unread += key not in topic.read
        process.close()
        return unread

    async def _client(self, session: Session, pacer: Pacer) -> None:
        while not session.ending:
            topic = self._begin(session)
            process = session.process()
            if await _is_read(session, pacer, process, topic):
                self._begun.remove(topic)
                await _delete(session, process, topic)
            process.close()

    def _begin(self, session: Session) -> _Topic:
        name = f"short-{session.run_id}-{self._topics}"
        self._topics += 1
        topic = _Topic(keys=tuple(f"{name}-{number}" for number in range(PARTITIONS)))
        self._begun.append(topic)
        return topic


async def _is_read(session: Session, pacer: Pacer, process: Process, topic: _Topic) -> bool:
    """Create, fill and read a topic; return whether the run was long enough."""
    while not await _is_created(session, process, topic, 1):
        if session.ending:
            return False
    await _fill(session, pacer, process, topic)
    for key in topic.keys:
        while not await _is_checked(session, process, topic, key, 1):
            if session.ending:
                return False
    return True


async def _delete(session: Session, process: Process, topic: _Topic) -> None:
    late = [session.scope.spawn(_send_late(session, key)) for key in topic.keys]
    await session.scope.sleep(session.random.randrange(DELETION_NS))
    await process.invoke("delete", topic.keys[0])
    for one in late:
        await one


async def _is_created(session: Session, process: Process, topic: _Topic, attempts: int) -> bool:
    if not topic.is_created:
        shape = {"partitions": PARTITIONS, "segment_bytes": SEGMENT_BYTES}
        topic.is_created = await create_topic(session, process, topic.keys[0], shape, attempts)
    return topic.is_created


async def _is_checked(
    session: Session, process: Process, topic: _Topic, key: str, attempts: int
) -> bool:
    """Send to a partition without an acknowledged send, and read it to the end.

    Returns:
        whether the partition has an acknowledged send and was read to the end after the send.
    """
    if not await _is_created(session, process, topic, attempts):
        return False
    if key not in topic.acknowledged:
        value_of, sends = partial(_last_value, session), topic.resends[key]
        if await send_until_acknowledged(session, key, sends, value_of, attempts):
            topic.acknowledged.add(key)
            topic.read.discard(key)
    if key not in topic.read and await read_whole(session, process, key, attempts):
        topic.read.add(key)
    return key in topic.acknowledged and key in topic.read


async def _send_late(session: Session, key: str) -> None:
    """Send until the partition is gone."""
    process = session.process()
    for number in range(LATE_SENDS):
        completion = await process.invoke("send", key, _value(session, f"1.{number}", acks=1))
        if completion.outcome is not Outcome.OK:
            break
    process.close()


def _last_value(session: Session, number: int) -> Value:
    return _value(session, f"2.{number}", acks=-1)


def _value(session: Session, name: str, acks: int) -> Value:
    return {
        "value": f"{name}@{session.run_id}",
        "acks": acks,
        "idempotent": False,
        "padding": PADDING_BYTES,
    }


async def _fill(session: Session, pacer: Pacer, process: Process, topic: _Topic) -> None:
    for number in range(SENDS * len(topic.keys)):
        await pacer.turn()
        value = _value(session, f"0.{number}", acks=-1)
        key = topic.keys[number % len(topic.keys)]
        completion = await process.invoke("send", key, value)
        if is_acknowledged(completion):
            topic.acknowledged.add(key)
        if completion.outcome is not Outcome.OK:
            await session.scope.sleep(10_000_000)
