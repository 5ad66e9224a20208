"""First-in-first-out queues: clients enqueue elements and dequeue the oldest element.

One queue a key, empty at first; each element is enqueued once. `dequeue` answers an element, or
null if the queue is empty. The model is `queue`. At the end each queue is dequeued until empty.
"""

from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.endings.final_reads import read_each
from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.keys import MOST_OPERATIONS, Key
from kraftproof.workloads.workload import Completion, Outcome, Process, Session, Value

ENQUEUE_SHARE = 0.55


class Queue(KeyedWorkload[FreshValues]):
    """Elements enter and leave queues: finds lost, repeated and reordered elements."""

    name: ClassVar[str] = "queue"
    model: ClassVar[str] = "queue"

    @override
    def state(self, values: FreshValues) -> FreshValues:
        return values

    @override
    def draw(self, random: Random, state: FreshValues) -> tuple[str, Value]:
        return ("enqueue", state.take()) if random.random() < ENQUEUE_SHARE else ("dequeue", None)

    @override
    async def final_reads(self, session: Session) -> int:
        assert self._pool is not None
        used = [key for key in self._pool.used if key.operations > 0]
        return await read_each(session, used, _drain)


async def _drain(process: Process, key: Key[FreshValues]) -> Completion:
    """Dequeue until the queue is empty; return the last completion."""
    completion = await process.invoke("dequeue", key.name)
    for _ in range(MOST_OPERATIONS):
        if completion.outcome is not Outcome.OK or completion.value is None:
            break
        completion = await process.invoke("dequeue", key.name)
    return completion
