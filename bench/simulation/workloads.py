"""What the benchmark's clients do: create topics, and produce to partitions beside that."""

from itertools import count
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.endings.final_reads import PAUSE_NS
from kraftproof.workloads.workload import Outcome, Pacer, Session, Value

CLIENTS = 20
PARTITIONS = 8
ALL_IN_SYNC = -1
"""The acks of a send that waits for all in-sync replicas."""


class Creates:
    """Nothing but createTopics, each of a name of its own, at the rate that is asked for."""

    name: ClassVar[str] = "topics"
    model: ClassVar[str] = "topics"
    has_data: ClassVar[bool] = False

    def __init__(self, *, deletes: bool = False) -> None:
        """Prepare the clients; with `deletes`, each topic is deleted after its creation."""
        self._numbers = count()
        self._deletes = deletes

    async def run(self, session: Session) -> None:
        """Let clients take turns until the session is ending."""
        pacer = Pacer(session.scope, session.random, session.load.rate)
        clients = [session.scope.spawn(self._create(session, pacer)) for _ in range(CLIENTS)]
        for client in clients:
            await client

    async def _create(self, session: Session, pacer: Pacer) -> None:
        process = session.process()
        while True:
            await pacer.turn()
            if session.ending:
                break
            name = f"topic-{next(self._numbers):07d}"
            await process.invoke("create", *self.creation(name))
            if self._deletes:
                await process.invoke("delete", *self.deletion(name))
        process.close()

    def creation(self, name: str) -> tuple[str, Value]:
        """Return key and value of the operation that creates a topic."""
        return name, None

    def deletion(self, name: str) -> tuple[str, Value]:
        """Return key and value of the operation that deletes a topic."""
        return name, {"by": "name"}

    async def final_reads(self, session: Session) -> int:
        """The benchmark judges no histories."""
        del session
        return 0


class CreatesAndProduces(Creates):
    """Topics that come and go at the rate that is asked for, and sends with acks=all beside them.

    The partitions of a topic have three replicas. A Fetch names all partitions of a follower, so
    that topics that only come would make each Fetch dearer than the Fetch before.
    """

    name: ClassVar[str] = "log"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True

    def __init__(self, *, produces: float, deletes: bool = True) -> None:
        """Prepare the clients; `produces` is the number of sends a second."""
        super().__init__(deletes=deletes)
        self._produces = produces
        self._values = count()

    @override
    def creation(self, name: str) -> tuple[str, Value]:
        return f"{name}-0", {"partitions": 1}

    @override
    def deletion(self, name: str) -> tuple[str, Value]:
        return f"{name}-0", None

    @override
    async def run(self, session: Session) -> None:
        """Create the topic of the partitions, then let all clients take turns."""
        keys = tuple(f"log-{session.run_id}-{number}" for number in range(PARTITIONS))
        process = session.process()
        while not session.ending:
            created = await process.invoke("create", keys[0], {"partitions": PARTITIONS})
            if created.outcome is Outcome.OK:
                break
            await session.scope.sleep(PAUSE_NS)
        process.close()
        pacer = Pacer(session.scope, session.random, self._produces)
        clients = [session.scope.spawn(self._send(session, pacer, keys)) for _ in range(CLIENTS)]
        await super().run(session)
        for client in clients:
            await client

    async def _send(self, session: Session, pacer: Pacer, keys: tuple[str, ...]) -> None:
        process = session.process()
        while True:
            await pacer.turn()
            if session.ending:
                break
            value = {
                "value": f"0.{next(self._values)}@{session.run_id}",
                "acks": ALL_IN_SYNC,
                "idempotent": False,
            }
            await process.invoke("send", session.random.choice(keys), value)
        process.close()
