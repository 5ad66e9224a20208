"""Transactions on lists: each appends to lists and reads lists.

A key is a group of lists, which are empty at first; each element is appended once to a list. `txn`
takes actions ["append", list, element] and ["r", list, null], and answers the same actions with
what the reads saw. The model is `list-append`: the promise is strict serializability.
"""

from random import Random
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Value

LISTS: Final = ("a", "b", "c")
"""The lists of a group."""
MOST_ACTIONS = 4
APPEND_SHARE = 0.5


class Append(KeyedWorkload[FreshValues]):
    """Transactions append to lists and read lists: finds every lack of strict serializability."""

    name: ClassVar[str] = "append"
    model: ClassVar[str] = "list-append"

    @override
    def state(self, values: FreshValues) -> FreshValues:
        return values

    @override
    def draw(self, random: Random, state: FreshValues) -> tuple[str, Value]:
        return "txn", [self._action(random, state) for _ in range(random.randint(1, MOST_ACTIONS))]

    def _action(self, random: Random, values: FreshValues) -> list[Value]:
        name = random.choice(LISTS)
        if random.random() < APPEND_SHARE:
            return ["append", name, values.take()]
        return ["r", name, None]

    @override
    def reading(self, state: FreshValues) -> tuple[str, Value]:
        return "txn", [["r", name, None] for name in LISTS]
