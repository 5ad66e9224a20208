"""Moves of partitions under load: other replicas, cancellations, replaced moves and elections.

Producers and readers work as in the workload `log`, on a topic with fewer replicas than brokers.
A move names its replicas by a shift and a number, so that the workload need not know the brokers.
At the end each move must be complete and each replica in sync. The model is `log`.
"""

from collections.abc import Coroutine, Sequence
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.log import Log
from kraftproof.workloads.replicas.states import settle, watch
from kraftproof.workloads.workload import Outcome, Session

REPLICAS = 2
MOST_REPLICAS = 3
LONGEST_REST_NS = 2_000_000_000
"""Longest time between two changes."""
MOVE_SHARE = 0.6
CANCEL_SHARE = 0.2
REPLACE_SHARE = 0.3
"""Share of moves that another move replaces at once."""


class Reassignment(Log):
    """Replicas move under load: finds lost records, and moves that never end."""

    name: ClassVar[str] = "reassignment"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True

    @override
    def shape(self, partitions: int) -> dict[str, int]:
        return {"partitions": partitions, "replicas": REPLICAS, "min_insync": 1}

    @override
    def others(
        self, session: Session, keys: Sequence[str]
    ) -> Sequence[Coroutine[object, object, None]]:
        return (_move(session, keys), watch(session, keys))

    @override
    async def settle(self, session: Session) -> int:
        return await settle(session, self.keys)


async def _move(session: Session, keys: Sequence[str]) -> None:
    """Move, cancel and elect, one request after the other."""
    random = session.random
    while not session.ending:
        process = session.process()
        while not session.ending:
            await session.scope.sleep(random.randrange(LONGEST_REST_NS))
            key, kind = random.choice(keys), random.random()
            if kind < MOVE_SHARE:
                f, value = "move", _draw(session)
            elif kind < MOVE_SHARE + CANCEL_SHARE:
                f, value = "cancel", None
            else:
                f, value = "elect", None
            completion = await process.invoke(f, key, value)
            if f == "move" and random.random() < REPLACE_SHARE and completion.connected:
                completion = await process.invoke(f, key, _draw(session))
            if completion.outcome is Outcome.INFO or not completion.connected:
                break
        process.close()


def _draw(session: Session) -> dict[str, int]:
    return {
        "shift": session.random.randrange(100),
        "size": session.random.randint(1, MOST_REPLICAS),
    }
