"""Kraftproof's own engines, one for each kind of calls.

The modules of the engines are imported when they are first needed, so that a check that needs no
compiled code never pays for numba.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.selection import of_keys
from kraftproof.checkers.engines.types import Engine, Outcome, Outcomes
from kraftproof.checkers.options import Limits
from kraftproof.checkers.uncompiled import uncompiled_first
from kraftproof.checkers.verdict import Verdict

WORTH_SPREADING: Final = 50_000
"""Number of calls below which threads are no faster."""
_PARTS_A_WORKER: Final = 4
_ENGINES: Final = __package__


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEngine(Engine):
    """An engine of Kraftproof, imported when it is first asked.

    Attributes:
        name: The name in `kraftproof list engines`.
        summary: The problem and the method, in one line.
        models: The names of the models whose calls it accepts.
        kind: The name of the class of the calls that it accepts.
        deciding: The module with `decide`, below this package.
        ordering: The module with `order_of`; empty if none is known to find a legal order.
        can_be_cut: Whether keys can be selected (`of_keys`): each array has one entry a call.
    """

    name: str
    summary: str
    models: tuple[str, ...]
    kind: str
    deciding: str
    ordering: str = ""
    can_be_cut: bool = True

    @override
    def accepts(self, calls: Calls) -> bool:
        return type(calls).__name__ == self.kind

    @override
    def decide(self, calls: Calls, limits: Limits) -> Outcomes:
        module = _module(self.deciding)
        return uncompiled_first(
            module.__name__,
            len(calls),
            limits.seconds,
            lambda: module.decide(calls, limits),
            are_decided,
        )

    def decide_in_threads(self, calls: Calls, limits: Limits, workers: int) -> Outcomes:
        """Return the same as `decide`; threads share the keys where that is worth their start."""
        is_spread = workers > 1 and len(calls) >= WORTH_SPREADING and self.can_be_cut
        parts = _parts(calls, workers) if is_spread else []
        if len(parts) < 2:
            return self.decide(calls, limits)
        decide = _module(self.deciding).decide
        with ThreadPoolExecutor(workers) as threads:
            decided = threads.map(lambda keys: decide(of_keys(calls, keys), limits), parts)
            return [outcome for part in decided for outcome in part]

    @override
    def order_of(self, calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
        if not self.ordering:
            return None
        module = _module(self.ordering)
        order: NDArray[np.int64] | None = uncompiled_first(
            module.__name__,
            len(calls),
            limits.seconds,
            lambda: module.order_of(calls, cut, limits),
            lambda found: found is not None,
        )
        return order


OWN: Final = (
    OwnEngine(
        name="counter",
        summary="Sums of additions: greedy if all are equal, else depth first or by a frontier.",
        models=("counter",),
        kind="CounterCalls",
        deciding="counter.counter",
        ordering="repeated.counter.growing",
    ),
    OwnEngine(
        name="fencing-token",
        summary="Locks with growing tokens: sort by token, then one sweep in real time.",
        models=("fencing-lock",),
        kind="FencingCalls",
        deciding="locks.tokens",
    ),
    OwnEngine(
        name="growing-set",
        summary="Sets that only grow, with whole reads: the reads form a chain of subsets.",
        models=("set",),
        kind="GrowingSetCalls",
        deciding="lists.growing_sets",
        can_be_cut=False,
    ),
    OwnEngine(
        name="list",
        summary="Lists by appends and whole reads: the longest read gives the order (Elle).",
        models=("list-append",),
        kind="ListCalls",
        deciding="lists.list_append",
        can_be_cut=False,
    ),
    OwnEngine(
        name="log",
        summary="Logs with offsets: the offsets give the order.",
        models=("append-log",),
        kind="LogCalls",
        deciding="lists.append_log",
    ),
    OwnEngine(
        name="mutex",
        summary="Locks: acquire and release alternate.",
        models=("mutex",),
        kind="MutexCalls",
        deciding="locks.mutex",
    ),
    OwnEngine(
        name="priority-queue",
        summary="Priority queues: the least element first; a beam search if elements repeat.",
        models=("priority-queue",),
        kind="PriorityQueueCalls",
        deciding="containers.priority_queue",
        ordering="repeated.priority_queue.order",
    ),
    OwnEngine(
        name="queue",
        summary="First-in-first-out queues: forbidden patterns; a beam search if elements repeat.",
        models=("queue",),
        kind="QueueCalls",
        deciding="containers.queue",
        ordering="repeated.queue.order",
    ),
    OwnEngine(
        name="register",
        summary="Registers: zones if values are unique, else depth-first search and frontiers.",
        models=(
            "cas-register",
            "map",
        ),
        kind="RegisterCalls",
        deciding="register.registers",
        ordering="repeated.beam_search.registers",
    ),
    OwnEngine(
        name="registration",
        summary="Broker registrations and epochs: a frontier of configurations.",
        models=("registration",),
        kind="RegistrationCalls",
        deciding="kraft.registrations",
        ordering="kraft.registrations",
    ),
    OwnEngine(
        name="set",
        summary="Sets with adds and queries of single elements: a register an element.",
        models=("set",),
        kind="SetCalls",
        deciding="register.sets",
        can_be_cut=False,
    ),
    OwnEngine(
        name="stack",
        summary="Stacks: nested stays; a graph-structured stack if elements repeat.",
        models=("stack",),
        kind="StackCalls",
        deciding="containers.stack",
        ordering="repeated.stack.order",
    ),
    OwnEngine(
        name="string",
        summary="Strings by put and append: blocks of known order; a beam search if pieces repeat.",
        models=("kv-append",),
        kind="StringCalls",
        deciding="strings.strings",
        ordering="strings.strings",
        can_be_cut=False,
    ),
    OwnEngine(
        name="topic",
        summary="Topics with ids: a frontier of configurations.",
        models=("topics",),
        kind="TopicCalls",
        deciding="kraft.topics",
        ordering="kraft.topics",
    ),
    OwnEngine(
        name="transaction",
        summary="Transactions on registers: precedence rules; a beam search if values repeat.",
        models=("multi-register",),
        kind="TransactionCalls",
        deciding="transactions.transactions",
        ordering="transactions.transactions",
        can_be_cut=False,
    ),
    OwnEngine(
        name="versioned-register",
        summary="Registers with versions: the versions give the order.",
        models=("versioned-register",),
        kind="VersionedCalls",
        deciding="register.versioned_cas",
    ),
)
"""Kraftproof's engines, by name: one for each kind of calls."""


def are_decided(outcomes: Sequence[Outcome | None]) -> bool:
    """Return whether every key has a verdict."""
    return not any(one is None or one.verdict is Verdict.UNKNOWN for one in outcomes)


def _module(name: str) -> Any:  # noqa: ANN401 engines share a protocol that modules can't state
    return import_module(f"{_ENGINES}.{name}")


def _parts(calls: Calls, workers: int) -> list[NDArray[np.int64]]:
    """Return runs of keys with about as many calls each, several for each worker."""
    count = min(workers * _PARTS_A_WORKER, len(calls.starts) - 1)
    shares = np.linspace(0, len(calls), count + 1)[1:-1]
    cuts = np.unique(np.searchsorted(calls.starts[1:-1], shares))
    keys = np.arange(len(calls.starts) - 1, dtype=np.int64)
    return [part for part in np.split(keys, cuts) if len(part)]
