"""Counters: clients add small amounts and read sums.

One counter a key, 0 at first. All amounts are positive. The model is `counter`.
"""

from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Value

ADD_SHARE = 0.5
MOST_ADDED = 9


class Counter(KeyedWorkload[None]):
    """Amounts are added to counters, and sums are read: finds lost and repeated additions."""

    name: ClassVar[str] = "counter"
    model: ClassVar[str] = "counter"
    has_own_keys: ClassVar[bool] = True

    @override
    def state(self, values: FreshValues) -> None:
        del values

    @override
    def draw(self, random: Random, state: None) -> tuple[str, Value]:
        if random.random() < ADD_SHARE:
            return "add", random.randint(1, MOST_ADDED)
        return "read", None
