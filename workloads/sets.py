"""Sets that grow: clients add elements and read whole sets.

One set a key, empty at first; each element is added once. The model is `set`.
"""

from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Value

ADD_SHARE = 0.6


class GrowingSet(KeyedWorkload[FreshValues]):
    """Elements are added to sets, and whole sets are read: finds lost and resurrected elements."""

    name: ClassVar[str] = "set"
    model: ClassVar[str] = "set"

    @override
    def state(self, values: FreshValues) -> FreshValues:
        return values

    @override
    def draw(self, random: Random, state: FreshValues) -> tuple[str, Value]:
        return ("add", state.take()) if random.random() < ADD_SHARE else ("read", None)
