"""Registers that are read, written, and compared and set by many at once.

One register a key, null at first. `read` answers the value, `write` sets one, and `cas` sets the
second of [old, new] where the register holds the first. Each value is written once in a key, so
that a read tells which operation it saw. The model is `cas-register`.
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kraftproof.workloads.final_reads import read_each
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Outcome, Pacer, Process, Session, Value

STAY_OPERATIONS = (10, 60)
"""The fewest and the most operations that a client does before it takes a connection anew."""
READ_SHARE = 0.5
WRITE_SHARE = 0.3


@dataclass(slots=True, kw_only=True)
class _Register:
    """State of the workload for a key."""

    written: int = 0
    """The last value that was written or tried; the next one is larger."""
    seen: Value = None
    """The last value that somebody read or set."""

    def fresh(self) -> int:
        """Return a value that nobody has written."""
        self.written += 1
        return self.written


class Register:
    """Registers are read, written, and compared and set, some by several clients at once."""

    name: ClassVar[str] = "register"
    model: ClassVar[str] = "cas-register"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[_Register] | None = None

    async def run(self, session: Session) -> None:
        """Let `concurrency` clients take turns on a few active keys."""
        load = session.load
        pool = KeyPool(session.random, max(2, load.concurrency // 2), _key_name, _Register)
        self._pool = pool
        pacer = Pacer(session.scope, session.random, load.rate)
        clients = [
            session.scope.spawn(_client(session, pacer, pool)) for _ in range(load.concurrency)
        ]
        for client in clients:
            await client

    async def final_reads(self, session: Session) -> int:
        """Read every key that was used."""
        assert self._pool is not None
        used = [key for key in self._pool.used if key.operations > 0]
        return await read_each(session, used, _read)


def _key_name(number: int) -> str:
    return f"register-{number:05d}"


async def _client(session: Session, pacer: Pacer, pool: KeyPool[_Register]) -> None:
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
        key = pool.draw()
        f, value = _draw(session.random, key.state)
        key.begin()
        completion = await process.invoke(f, key.name, value)
        key.end(completion)
        _learn(key.state, f, value, completion)
    process.close()


def _draw(random: Random, register: _Register) -> tuple[str, Value]:
    chance = random.random()
    if chance < READ_SHARE:
        return "read", None
    if chance < READ_SHARE + WRITE_SHARE:
        return "write", register.fresh()
    return "cas", [register.seen, register.fresh()]


def _learn(register: _Register, f: str, value: Value, completion: Completion) -> None:
    """Note the value that a successful operation saw or set, so that some cas succeed."""
    if completion.outcome is not Outcome.OK:
        return
    if f == "read":
        register.seen = completion.value
    else:
        register.seen = value if f == "write" else value[1]


async def _read(process: Process, key: Key[_Register]) -> Completion:
    return await process.invoke("read", key.name)
