"""Common part of workloads whose clients take turns on a few active keys.

A workload of this kind says which operations a key gets and how the key is read at the end. Each
value of a client occurs once in a key and carries the id of the run, and thus an answer names the
operation and the run of the write.
"""

from abc import ABC, abstractmethod
from random import Random
from typing import ClassVar, Generic, TypeVar

from kraftproof.workloads.endings.final_reads import read_each
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Pacer, Process, Session, Value

STAY_OPERATIONS = (10, 60)
"""The fewest and the most operations that a client does before a new connection."""

S = TypeVar("S")


class FreshValues:
    """Values that no operation of the run has written under the same key."""

    __slots__ = ("_count", "_run_id")

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._count = 0

    def take(self) -> str:
        """Return the next value, such as 12@k3f9."""
        self._count += 1
        return f"{self._count}@{self._run_id}"


class KeyedWorkload(ABC, Generic[S]):
    """A workload of independent clients; S is the state that the workload keeps for a key."""

    name: ClassVar[str]
    model: ClassVar[str]
    has_own_keys: ClassVar[bool] = False
    """Whether the names of the keys carry the id of the run, since the values can't."""

    def __init__(self) -> None:
        self._pool: KeyPool[S] | None = None

    @abstractmethod
    def state(self, values: FreshValues) -> S:
        """Return the state of a new key."""

    @abstractmethod
    def draw(self, random: Random, state: S) -> tuple[str, Value]:
        """Return the next operation on a key: its function and its value."""

    def learn(self, state: S, f: str, value: Value, completion: Completion) -> None:
        """Note what an operation on a key has shown; by default nothing."""
        del state, f, value, completion

    def reading(self, state: S) -> tuple[str, Value]:
        """Return the operation that reads a whole key at the end."""
        del state
        return "read", None

    async def run(self, session: Session) -> None:
        """Let `concurrency` clients take turns on a few active keys."""
        load = session.load
        suffix = f"@{session.run_id}" if self.has_own_keys else ""
        pool = KeyPool(
            session.random,
            max(2, load.concurrency // 2),
            lambda number: f"{self.name}-{number:05d}{suffix}",
            lambda: self.state(FreshValues(session.run_id)),
        )
        self._pool = pool
        pacer = Pacer(session.scope, session.random, load.rate)
        clients = [
            session.scope.spawn(self._client(session, pacer, pool)) for _ in range(load.concurrency)
        ]
        for client in clients:
            await client

    async def _client(self, session: Session, pacer: Pacer, pool: KeyPool[S]) -> None:
        process = session.process()
        stays = session.random.randrange(*STAY_OPERATIONS)
        while True:
            await pacer.turn()
            if session.ending:
                break
            if stays == 0:
                # Lost connections drive all clients to the node that never fails: spread them.
                process.close()
                process, stays = session.process(), session.random.randrange(*STAY_OPERATIONS)
            stays -= 1
            await self._operate(session.random, process, pool.draw())
        process.close()

    async def _operate(self, random: Random, process: Process, key: Key[S]) -> None:
        f, value = self.draw(random, key.state)
        key.begin()
        completion = await process.invoke(f, key.name, value)
        key.end(completion)
        self.learn(key.state, f, value, completion)

    async def final_reads(self, session: Session) -> int:
        """Read every key that was used; return the number of keys whose read failed."""
        assert self._pool is not None
        used = [key for key in self._pool.used if key.operations > 0]
        return await read_each(session, used, self._read)

    async def _read(self, process: Process, key: Key[S]) -> Completion:
        f, value = self.reading(key.state)
        return await process.invoke(f, key.name, value)
