"""Keys and their retirement, which keeps histories decidable.

A key takes no more operations after two indeterminate results or 200 operations, and at most
five at a time.
"""

from collections.abc import Callable
from random import Random
from typing import Generic, TypeVar

from kraftproof.workloads.workload import Completion, Outcome

MOST_OPEN = 5
MOST_OPERATIONS = 200
MOST_INDETERMINATE = 2

S = TypeVar("S")


class Key(Generic[S]):
    """One key: its counts, and what the workload knows about it."""

    __slots__ = ("indeterminate", "name", "open", "operations", "state")

    def __init__(self, name: str, state: S) -> None:
        self.name = name
        self.state = state
        self.open = 0
        self.operations = 0
        self.indeterminate = 0

    @property
    def is_retired(self) -> bool:
        """Whether it takes no more operations."""
        return self.operations >= MOST_OPERATIONS or self.indeterminate >= MOST_INDETERMINATE

    @property
    def is_free(self) -> bool:
        """Whether it takes one more operation now."""
        return self.open < MOST_OPEN and not self.is_retired

    def begin(self) -> None:
        """Count an operation that begins."""
        self.open += 1
        self.operations += 1

    def end(self, completion: Completion) -> None:
        """Count an operation that ended."""
        self.open -= 1
        if completion.outcome is Outcome.INFO:
            self.indeterminate += 1


class KeyPool(Generic[S]):
    """Several keys in use at once; a retired one makes room for a new one."""

    __slots__ = ("_active", "_make", "_name", "_random", "used")

    def __init__(
        self, random: Random, active: int, name: Callable[[int], str], make: Callable[[], S]
    ) -> None:
        self._random = random
        self._name = name
        self._make = make
        self.used: list[Key[S]] = []
        self._active = [self.fresh() for _ in range(active)]

    def draw(self) -> Key[S]:
        """Return a key that takes an operation; there always is one."""
        for slot, key in enumerate(self._active):
            if key.is_retired:
                self._active[slot] = self.fresh()
        free = [key for key in self._active if key.is_free]
        if not free:
            self._active.append(self.fresh())
            free = [self._active[-1]]
        return self._random.choice(free)

    def fresh(self) -> Key[S]:
        """Return a key that was never used."""
        key = Key(self._name(len(self.used)), self._make())
        self.used.append(key)
        return key
