"""Keys of a workload, and their retirement, which keeps histories decidable.

A key retires after two indeterminate results or 200 operations. At most five operations of a key
run at a time.
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
    """A key with its operation counts and the state that the workload keeps for the key."""

    __slots__ = ("indeterminate", "is_free", "is_retired", "name", "open", "operations", "state")

    def __init__(self, name: str, state: S) -> None:
        self.name = name
        self.state = state
        self.open = 0
        self.operations = 0
        self.indeterminate = 0
        # Attributes, since a pool asks all its keys before each operation.
        self.is_retired = False
        """Whether the key accepts no further operations."""
        self.is_free = True
        """Whether the key accepts an operation now."""

    def begin(self) -> None:
        """Count a started operation."""
        self.open += 1
        self.operations += 1
        self._judge()

    def end(self, completion: Completion) -> None:
        """Count a completed operation."""
        self.open -= 1
        if completion.outcome is Outcome.INFO:
            self.indeterminate += 1
        self._judge()

    def _judge(self) -> None:
        self.is_retired = (
            self.operations >= MOST_OPERATIONS or self.indeterminate >= MOST_INDETERMINATE
        )
        self.is_free = self.open < MOST_OPEN and not self.is_retired


class KeyPool(Generic[S]):
    """A pool of active keys; a new key replaces a retired key."""

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
        """Return a drawn key that accepts an operation, if necessary a new key."""
        free = [key for key in self._active if key.is_free]
        if len(free) < len(self._active):
            free = self._renewed()
        return self._random.choice(free)

    def _renewed(self) -> list[Key[S]]:
        """Replace the retired keys, and return the keys that accept an operation."""
        for slot, key in enumerate(self._active):
            if key.is_retired:
                self._active[slot] = self.fresh()
        free = [key for key in self._active if key.is_free]
        if not free:
            self._active.append(self.fresh())
            free = [self._active[-1]]
        return free

    def fresh(self) -> Key[S]:
        """Return a new key."""
        key = Key(self._name(len(self.used)), self._make())
        self.used.append(key)
        return key
