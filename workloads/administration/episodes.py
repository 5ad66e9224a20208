"""Base of the workloads whose keys have one writer each, and many askers.

A writer takes a new key, changes it some times, and goes on with the next key. A change without a
known result is the last change of its key: nobody knows when that change takes effect. Askers
choose among the newest keys. See checkers/models/administration/single_writer.py for the rules.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar

from kraftproof.workloads.workload import Completion, Outcome, Pacer, Process, Session, Value

WRITER_SHARE = 0.4
"""Share of the clients that write."""
CHANGES = (3, 14)
"""Bounds of the number of changes of a key."""
NEWEST = 6
"""Number of the newest keys about which clients ask."""
FINAL_KEYS = 4
FINAL_READS = 8
"""Final questions about a key in a round; each goes to the next broker."""
FINAL_ROUNDS = 40
PAUSE_NS = 500_000_000
STAY_OPERATIONS = (10, 60)

Step = tuple[str, Value]
"""An operation and its input."""


class Episodes(ABC):
    """Keys with one writer each."""

    name: ClassVar[str]
    model: ClassVar[str]
    has_security: ClassVar[bool] = True
    faults: ClassVar[tuple[str, ...]] = ("kill", "pause", "partition", "clock")

    def __init__(self) -> None:
        self._count = 0
        self._keys: deque[str] = deque(maxlen=NEWEST)

    @abstractmethod
    def prepared(self, run_id: str) -> Sequence[str]:
        """Return the users that exist before the first key."""

    @abstractmethod
    def change(self, random: Random, key: str) -> Step:
        """Return the next change of a key."""

    @abstractmethod
    def question(self, random: Random, key: str) -> Step | None:
        """Return a question about a key; None while nothing can be asked."""

    def changed(self, key: str, f: str, completion: Completion) -> None:
        """Take the result of a change; by default nothing depends on the result."""
        del key, f, completion

    def final(self, random: Random, key: str) -> Step | None:
        """Return a question for the end; None without a question about this key."""
        step = self.question(random, key)
        return None if step is None else ("final", step[1])

    async def run(self, session: Session) -> None:
        """Prepare the users, and let writers and askers work."""
        for user in self.prepared(session.run_id):
            await _until_done(session, user, lambda: session.ending)
        pacer = Pacer(session.scope, session.random, session.load.rate)
        count = max(session.load.concurrency, 2)
        writers = max(1, round(count * WRITER_SHARE))
        tasks = [session.scope.spawn(self._write(session, pacer)) for _ in range(writers)]
        tasks += [session.scope.spawn(self._ask(session, pacer)) for _ in range(count - writers)]
        for task in tasks:
            await task

    async def final_reads(self, session: Session) -> int:
        """Ask each broker about the newest keys, once the broker has caught up.

        A broker that takes a login with the last credential of the run has all changes before.
        """
        mark = f"{self.name}-end-{session.run_id}"
        await _until_done(session, mark, lambda: False)
        await _until_seen(session, mark)
        unread = 0
        for key in list(self._keys)[-FINAL_KEYS:]:
            step = self.final(session.random, key)
            unread += step is not None and not await self._final(session, key)
        return unread

    async def _write(self, session: Session, pacer: Pacer) -> None:
        process = session.process()
        while not session.ending:
            self._count += 1
            key = f"{self.name}-{session.run_id}-{self._count}-"
            self._keys.append(key)
            for _ in range(session.random.randint(*CHANGES)):
                await pacer.turn()
                if session.ending:
                    break
                f, value = self.change(session.random, key)
                completion = await process.invoke(f, key, value)
                self.changed(key, f, completion)
                if not completion.connected:
                    process = _next(session, process)
                if completion.outcome is Outcome.INFO:
                    break
        process.close()

    async def _ask(self, session: Session, pacer: Pacer) -> None:
        random = session.random
        while not session.ending:
            process = session.process()
            for _ in range(random.randrange(*STAY_OPERATIONS)):
                await pacer.turn()
                if session.ending:
                    break
                if not self._keys:
                    continue
                key = random.choice(self._keys)
                step = self.question(random, key)
                if step is None:
                    continue
                completion = await process.invoke(step[0], key, step[1])
                if completion.outcome is Outcome.INFO or not completion.connected:
                    break
            process.close()

    async def _final(self, session: Session, key: str) -> bool:
        """Return whether every broker answered in one round."""
        process = session.process()
        is_read = False
        for _ in range(FINAL_ROUNDS):
            answers = []
            for _ in range(FINAL_READS):
                step = self.final(session.random, key)
                assert step is not None, "the caller has looked"
                answers.append(await process.invoke(step[0], key, step[1]))
            is_read = all(answer.outcome is Outcome.OK for answer in answers)
            if is_read:
                break
            await session.scope.sleep(PAUSE_NS)
        process.close()
        return is_read


def _next(session: Session, process: Process) -> Process:
    process.close()
    return session.process()


async def _until_done(session: Session, user: str, gives_up: Callable[[], bool]) -> None:
    """Set the credential of a user."""
    process = session.process()
    for _ in range(FINAL_ROUNDS):
        if gives_up():
            break
        completion = await process.invoke("prepare", user, None)
        if completion.outcome is Outcome.OK:
            break
        process = _next(session, process)
        await session.scope.sleep(PAUSE_NS)
    process.close()


async def _until_seen(session: Session, user: str) -> None:
    """Wait until each broker takes the login of a user; each login goes to the next broker."""
    process = session.process()
    for _ in range(FINAL_ROUNDS):
        answers = [await process.invoke("await", user, None) for _ in range(FINAL_READS)]
        if all(answer.outcome is Outcome.OK for answer in answers):
            break
        await session.scope.sleep(PAUSE_NS)
    process.close()
