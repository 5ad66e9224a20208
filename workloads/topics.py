"""The topics workload: concurrent clients create, delete, look up and describe topics.

The clients connect to different brokers. The active controller answers `create`, `delete` and
`lookup` (a create with validate-only), so these operations must be linearizable. A broker answers
`describe` from its own image, so the answers must be monotonic per connection. The model is
`topics`.
"""

from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from kraftproof.workloads.endings.final_reads import read_each
from kraftproof.workloads.keys import Key, KeyPool
from kraftproof.workloads.workload import Completion, Pacer, Process, Session, Value

IDS_REMEMBERED = 3
STAY_OPERATIONS = (10, 60)
SHAPED_SHARE = 0.3
MOST_PARTITIONS = 3


@dataclass(slots=True, kw_only=True)
class _Topic:
    """The last topic ids that creates of a topic name returned."""

    ids: list[str] = field(default_factory=list)


class Topics:
    """Creates, deletes, lookups and describes of topics by concurrent clients."""

    name: ClassVar[str] = "topics"
    model: ClassVar[str] = "topics"

    __slots__ = ("_pool",)

    def __init__(self) -> None:
        self._pool: KeyPool[_Topic] | None = None

    async def run(self, session: Session) -> None:
        """Run `concurrency` clients on a few active topic names."""
        load = session.load
        pool = KeyPool(session.random, max(2, load.concurrency // 2), _topic_name, _Topic)
        self._pool = pool
        pacer = Pacer(session.scope, session.random, load.rate)
        clients = [
            session.scope.spawn(_client(session, pacer, pool)) for _ in range(load.concurrency)
        ]
        for client in clients:
            await client

    async def final_reads(self, session: Session) -> int:
        """Look up all used names; return the number of failed lookups."""
        assert self._pool is not None
        used = [key for key in self._pool.used if key.operations > 0]
        return await read_each(session, used, _read)


def _topic_name(number: int) -> str:
    return f"topic-{number:05d}"


async def _client(session: Session, pacer: Pacer, pool: KeyPool[_Topic]) -> None:
    process = session.process()
    stays = _stay(session.random)
    while True:
        await pacer.turn()
        if session.ending:
            break
        if stays == 0:
            # Lost connections drive all clients to the broker that never fails: spread the clients.
            process.close()
            process, stays = session.process(), _stay(session.random)
        stays -= 1
        key = pool.draw()
        f, value = _draw(session.random, key.state)
        key.begin()
        completion = await process.invoke(f, key.name, value)
        key.end(completion)
        _remember_id(key.state, completion)
    process.close()


def _stay(random: Random) -> int:
    """Draw the number of operations of a client before the client draws another broker."""
    return random.randrange(*STAY_OPERATIONS)


def _draw(random: Random, topic: _Topic) -> tuple[str, Value]:
    """Draw an operation; operations by id need an id that a create has returned."""
    drawn = random.random()
    if drawn < 0.35:
        return "create", _shape(random)
    if drawn < 0.60:
        return "lookup", None
    if drawn < 0.75 or not topic.ids:
        return "delete", {"by": "name"}
    if drawn < 0.85:
        return "delete", {"by": "id", "id": random.choice(topic.ids)}
    return "describe", {"id": random.choice(topic.ids)}


def _shape(random: Random) -> Value:
    """Draw a default topic, or a topic with up to 3 partitions and a configuration."""
    if random.random() >= SHAPED_SHARE:
        return None
    retention_ms = random.randrange(1_000, 1_000_000)
    return {
        "partitions": random.randint(1, MOST_PARTITIONS),
        "configs": {"retention.ms": str(retention_ms)},
    }


def _remember_id(topic: _Topic, completion: Completion) -> None:
    if not completion.has_outcome("created"):
        return
    assert completion.value is not None
    topic.ids.append(str(completion.value["id"]))
    del topic.ids[:-IDS_REMEMBERED]


async def _read(process: Process, key: Key[_Topic]) -> Completion:
    return await process.invoke("lookup", key.name)
