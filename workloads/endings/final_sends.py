"""Repeats creations and sends after the faults, so that each partition has a record to judge.

A partition without an acknowledged record proves nothing, and the run ends unknown. A workload of
partitions therefore sends to such a partition after the faults are healed, before the final read.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kraftproof.workloads.endings.final_reads import PAUSE_NS
from kraftproof.workloads.workload import Completion, Outcome, Process, Session, Value

MOVE_AFTER: Final = 40
"""The sends without acknowledgement after which a partition moves: 10 s and more."""
MOVE: Final = {"shift": 0, "size": 3}
"""A move to the first brokers of the cluster, as many as the topic asked for, or all."""


def is_acknowledged(completion: Completion) -> bool:
    """Return whether a send was answered with the offset of its record.

    A send with acks=0 succeeds without an answer, and thus without an offset.
    """
    return completion.outcome is Outcome.OK and completion.value["offset"] is not None


async def create_topic(
    session: Session, process: Process, key: str, shape: Mapping[str, int], attempts: int
) -> bool:
    """Create the topic of a partition in `attempts` requests; return whether there is a topic."""
    for _ in range(attempts):
        completion = await process.invoke("create", key, shape)
        if completion.outcome is Outcome.OK:
            return True
        await session.scope.sleep(PAUSE_NS)
    return False


async def send_until_acknowledged(
    session: Session,
    key: str,
    sends: Iterator[int],
    value_of: Callable[[int], Value],
    attempts: int,
) -> bool:
    """Send values, each by a new process, until a send is acknowledged.

    A topic created during the absence of a broker may have a replica on a broker lost for good:
    the partition then refuses all sends until a move to brokers of the cluster.

    Args:
        session: the run.
        key: the partition.
        sends: the numbers of the sends to the partition, without end.
        value_of: makes the input of a send of its number.
        attempts: the most sends.

    Returns:
        whether a send was acknowledged.
    """
    for _ in range(attempts):
        process, number = session.process(), next(sends)
        if number and number % MOVE_AFTER == 0:
            await process.invoke("move", key, MOVE)
        completion = await process.invoke("send", key, value_of(number))
        process.close()
        if is_acknowledged(completion):
            return True
        await session.scope.sleep(PAUSE_NS)
    return False
