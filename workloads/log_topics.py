"""Topics that come and go: created, produced to, read to the end, and deleted at once.

The segments are tiny, so that a broker rolls and flushes segments while a topic is deleted: after
the read, further sends with acks=1, whose loss is declared, go on until the deletion. Each client
works on a topic of its own. The keys are the partitions; the model is `log`.
"""

from collections.abc import Sequence
from typing import ClassVar

from kraftproof.workloads.log import read_whole
from kraftproof.workloads.workload import Outcome, Pacer, Process, Session

PARTITIONS = 3
SENDS = 12
"""Sends to a partition, each larger than half a segment."""
SEGMENT_BYTES = 2_000
PADDING_BYTES = 1_200
LATE_SENDS = 40
"""The most sends to a partition between the read and the deletion."""
DELETION_NS = 150_000_000
"""The longest time from the begin of the late sends to the deletion."""


class LogTopics:
    """Short-lived topics are written, read and deleted: finds lost records and dying brokers."""

    name: ClassVar[str] = "log-topics"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True

    __slots__ = ("_topics",)

    def __init__(self) -> None:
        self._topics = 0

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
        """Return 0: each partition was read before its deletion."""
        del session
        return 0

    async def _client(self, session: Session, pacer: Pacer) -> None:
        while not session.ending:
            topic = f"short-{session.run_id}-{self._topics}"
            self._topics += 1
            process = session.process()
            await _one_topic(session, pacer, process, topic)
            process.close()


async def _one_topic(session: Session, pacer: Pacer, process: Process, topic: str) -> None:
    keys = [f"{topic}-{number}" for number in range(PARTITIONS)]
    settings = {"partitions": PARTITIONS, "segment_bytes": SEGMENT_BYTES}
    completion = await process.invoke("create", keys[0], settings)
    if completion.outcome is not Outcome.OK:
        return
    await _fill(session, pacer, process, keys)
    for key in keys:
        await read_whole(session, process, key)
    late = [session.scope.spawn(_send_late(session, key)) for key in keys]
    await session.scope.sleep(session.random.randrange(DELETION_NS))
    await process.invoke("delete", keys[0])
    for one in late:
        await one


async def _send_late(session: Session, key: str) -> None:
    """Send until the partition is gone."""
    process = session.process()
    for number in range(LATE_SENDS):
        completion = await process.invoke("send", key, _value(session, f"1.{number}", acks=1))
        if completion.outcome is not Outcome.OK:
            break
    process.close()


def _value(session: Session, name: str, acks: int) -> dict[str, object]:
    return {
        "value": f"{name}@{session.run_id}",
        "acks": acks,
        "idempotent": False,
        "padding": PADDING_BYTES,
    }


async def _fill(session: Session, pacer: Pacer, process: Process, keys: Sequence[str]) -> None:
    for number in range(SENDS * len(keys)):
        await pacer.turn()
        value = _value(session, f"0.{number}", acks=-1)
        completion = await process.invoke("send", keys[number % len(keys)], value)
        if completion.outcome is not Outcome.OK:
            await session.scope.sleep(10_000_000)
