"""Final reads: a workload reads each used key after the faults are healed, and repeats failures.

A system without its data may answer no read. After a key without an answer, the workload reads
each further key once, until a read succeeds, because twenty attempts per key would take minutes.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from kraftproof.workloads.keys import Key
from kraftproof.workloads.workload import Completion, Outcome, Process, Session

ATTEMPTS = 20
"""Number of reads of a key while the system answers."""
PAUSE_NS = 250_000_000
"""Time between two reads of a key."""

S = TypeVar("S")
Read = Callable[[Process, Key[S]], Awaitable[Completion]]


async def read_each(session: Session, keys: Iterable[Key[S]], read: Read[S]) -> int:
    """Read keys one after the other by a new process; return the number of unread keys."""
    process = session.process()
    unread, attempts = 0, ATTEMPTS
    for key in keys:
        is_read = await _is_read(session, process, key, read, attempts)
        attempts = ATTEMPTS if is_read else 1
        unread += not is_read
    process.close()
    return unread


async def _is_read(
    session: Session, process: Process, key: Key[S], read: Read[S], attempts: int
) -> bool:
    for _ in range(attempts):
        completion = await read(process, key)
        if completion.outcome is Outcome.OK:
            return True
        await session.scope.sleep(PAUSE_NS)
    return False
