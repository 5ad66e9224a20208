"""Chooses the compiled engines for some calls, by their kind, and spreads the keys over the cores.

A family of engines is a module with `decide(calls, limits)`: one outcome for each key, in order,
None for a key that it leaves to the general engine. A module is imported when first needed, so that
a check that needs no kernel never pays for numba. What a family does with a key that has this or
that in it is the family's affair.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.selection import of_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits
from kraftproof.checkers.uncompiled import uncompiled_first
from kraftproof.checkers.verdict import Verdict

FAMILIES: Final = {
    "CounterCalls": "kraftproof.checkers.engines.counter.counter",
    "FencingCalls": "kraftproof.checkers.engines.locks.tokens",
    "GrowingSetCalls": "kraftproof.checkers.engines.lists.growing_sets",
    "ListCalls": "kraftproof.checkers.engines.lists.list_append",
    "LogCalls": "kraftproof.checkers.engines.lists.append_log",
    "MutexCalls": "kraftproof.checkers.engines.locks.mutex",
    "PriorityQueueCalls": "kraftproof.checkers.engines.containers.priority_queue",
    "QueueCalls": "kraftproof.checkers.engines.containers.queue",
    "RegisterCalls": "kraftproof.checkers.engines.register.registers",
    "RegistrationCalls": "kraftproof.checkers.engines.kraft.registrations",
    "SetCalls": "kraftproof.checkers.engines.register.sets",
    "StackCalls": "kraftproof.checkers.engines.containers.stack",
    "StringCalls": "kraftproof.checkers.engines.strings.strings",
    "TopicCalls": "kraftproof.checkers.engines.kraft.topics",
    "TransactionCalls": "kraftproof.checkers.engines.transactions.transactions",
    "VersionedCalls": "kraftproof.checkers.engines.register.versioned_cas",
}
"""By the name of a kind of calls: the module of the family that decides them."""

WORTH_SPREADING: Final = 50_000
"""Calls, below which threads gain nothing."""

_PARTS_A_WORKER: Final = 4


WHOLE: Final = frozenset(
    {"GrowingSetCalls", "ListCalls", "SetCalls", "StringCalls", "TransactionCalls"}
)
"""The kinds that have more arrays than those with one entry a call: they are not cut by key."""


def _is_whole(calls: Calls) -> bool:
    return type(calls).__name__ in WHOLE


class Family(Protocol):
    """A module that decides one kind of calls."""

    def decide(self, calls: Calls, limits: Limits) -> Sequence[Outcome | None]:
        """Returns the outcome of each key, None for one that the general engine has to decide."""
        ...


ORDERING: Final = {
    "CounterCalls": "kraftproof.checkers.engines.repeated.counter.growing",
    "PriorityQueueCalls": "kraftproof.checkers.engines.repeated.priority_queue.order",
    "QueueCalls": "kraftproof.checkers.engines.repeated.queue.order",
    "RegisterCalls": "kraftproof.checkers.engines.repeated.beam_search.registers",
    "RegistrationCalls": "kraftproof.checkers.engines.kraft.registrations",
    "StackCalls": "kraftproof.checkers.engines.repeated.stack.order",
    "StringCalls": "kraftproof.checkers.engines.strings.strings",
    "TopicCalls": "kraftproof.checkers.engines.kraft.topics",
    "TransactionCalls": "kraftproof.checkers.engines.transactions.transactions",
}
"""By the name of a kind of calls: the module that can tell legal orders of them."""


class Ordering(Protocol):
    """A module that knows legal orders of one kind of calls."""

    def order_of(self, calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
        """Returns the calls of the only key up to an event in a legal order, None if unknown.

        What is open at that event, or indeterminate, is among them where something needs it. Calls
        that are left out fit in as soon as they are legal, or as late as they can be.
        """
        ...


def order_of(calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
    """Returns the rows of the only key up to an event in a legal order; None if none is known."""
    module = ORDERING.get(type(calls).__name__)
    if module is None:
        return None
    ordering = cast("Ordering", import_module(module))
    order = uncompiled_first(
        module,
        len(calls),
        limits.seconds,
        lambda: ordering.order_of(calls, cut, limits),
        lambda found: found is not None,
    )
    return None if order is None else calls.rows[order]


def decide(calls: Calls, limits: Limits, workers: int = 1) -> Sequence[Outcome | None]:
    """Returns the outcome of each key, None for one that the general engine has to decide.

    Args:
        calls: all calls.
        limits: what one key may cost.
        workers: how many threads may decide keys; kernels run without Python's lock.
    """
    module = FAMILIES[type(calls).__name__]
    family = cast("Family", import_module(module))
    is_spread = workers > 1 and len(calls) >= WORTH_SPREADING and not _is_whole(calls)
    parts = _parts(calls, workers) if is_spread else []
    if len(parts) < 2:
        return uncompiled_first(
            module, len(calls), limits.seconds, lambda: family.decide(calls, limits), _are_decided
        )
    with ThreadPoolExecutor(workers) as threads:
        decided = threads.map(lambda keys: family.decide(of_keys(calls, keys), limits), parts)
        return [outcome for part in decided for outcome in part]


def _are_decided(outcomes: Sequence[Outcome | None]) -> bool:
    return not any(one is None or one.verdict is Verdict.UNKNOWN for one in outcomes)


def _parts(calls: Calls, workers: int) -> list[NDArray[np.int64]]:
    """Returns runs of keys with about as many calls each, several for each worker."""
    count = min(workers * _PARTS_A_WORKER, len(calls.starts) - 1)
    shares = np.linspace(0, len(calls), count + 1)[1:-1]
    cuts = np.unique(np.searchsorted(calls.starts[1:-1], shares))
    keys = np.arange(len(calls.starts) - 1, dtype=np.int64)
    return [part for part in np.split(keys, cuts) if len(part)]
