"""The topic-names workload: topics whose names are easily taken for another, reserved or illegal.

Kafka's metrics show dots as underscores, so that `a.b` and `a_b` collide: the second create is
refused while the first topic exists, and accepted after its deletion. The metadata log's own name
is reserved, and other names are illegal: such a create is refused. The model is `topics`.
"""

from random import Random
from typing import ClassVar, Final

from kraftproof.workloads.endings.final_reads import read_each
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Pacer, Process, Session, Value

SPELLINGS: Final = ("kp.{0:04d}.x", "kp_{0:04d}.x", "kp.{0:04d}_x")
"""Names of a group, each of which collides with the others."""
REFUSED: Final = ("__cluster_metadata", "..", "a b", "n" * 250, "é")
"""Names that no topic may have."""
REFUSED_SHARE: Final = 0.1


class TopicNames:
    """Creates, deletes and lookups of topics with names that collide or are refused."""

    name: ClassVar[str] = "topic-names"
    model: ClassVar[str] = "topics"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[None] | None = None

    async def run(self, session: Session) -> None:
        """Run `concurrency` clients on two groups of names at a time."""
        load = session.load
        pool = KeyPool(session.random, 2 * len(SPELLINGS), _name, lambda: None)
        self._pool = pool
        refused = [Key(name, None) for name in REFUSED]
        pacer = Pacer(session.scope, session.random, load.rate)
        clients = [
            session.scope.spawn(_client(session, pacer, pool, refused))
            for _ in range(load.concurrency)
        ]
        for client in clients:
            await client

    async def final_reads(self, session: Session) -> int:
        """Delete all used names; return the number of failed deletes.

        A lookup is a create with validate-only, which is refused while another spelling exists.
        """
        assert self._pool is not None
        used = [key for key in self._pool.used if key.operations > 0]
        return await read_each(session, used, _read)


def _name(number: int) -> str:
    group, spelling = divmod(number, len(SPELLINGS))
    return SPELLINGS[spelling].format(group)


async def _client(
    session: Session, pacer: Pacer, pool: KeyPool[None], refused: list[Key[None]]
) -> None:
    process = session.process()
    while True:
        await pacer.turn()
        if session.ending:
            break
        key = pool.draw()
        f, value = _draw(session.random)
        if session.random.random() < REFUSED_SHARE:
            key, f, value = session.random.choice(refused), "create", None
        key.begin()
        key.end(await process.invoke(f, key.name, value))
    process.close()


def _draw(random: Random) -> tuple[str, Value]:
    drawn = random.random()
    if drawn < 0.45:
        return "create", None
    if drawn < 0.80:
        return "delete", {"by": "name"}
    return "lookup", None


async def _read(process: Process, key: Key[None]) -> Completion:
    return await process.invoke("delete", key.name, {"by": "name"})
