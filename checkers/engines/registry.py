"""The registry of engines: which engine decides which calls, and which engine knows a legal order.

Kraftproof's engines are listed in `own`; other distributions add
engines by the entry-point group `kraftproof.engines`. Both fit the protocol
`checkers.engines.types.Engine`. For each kind of calls Kraftproof's own engine is asked first; an
installed engine that accepts the calls is asked about the keys that are still undecided.
"""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.crash import crashed_engine, origin_of, reraise_interrupt
from kraftproof.checkers.engines.own import OWN, are_decided
from kraftproof.checkers.engines.types import Engine, Outcome, Outcomes
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict

ENTRY_POINT_GROUP: Final = "kraftproof.engines"


@dataclass(frozen=True, slots=True)
class InstalledEngine(Engine):
    """An engine of another distribution; whatever it raises leaves its keys unknown.

    Attributes:
        name: The entry point's name and origin, for messages.
        engine: The loaded engine.
    """

    name: str
    engine: Engine

    @override
    def accepts(self, calls: Calls) -> bool:
        return self.engine.accepts(calls)

    @override
    def decide(self, calls: Calls, limits: Limits) -> Outcomes:
        count = len(calls.starts) - 1
        try:
            return _of_each_key(list(self.engine.decide(calls, limits)), count)
        except BaseException as error:  # noqa: BLE001 a plug-in may raise anything
            reraise_interrupt(error)
            reason = crashed_engine(self.name, error)
            return [Outcome(verdict=Verdict.UNKNOWN, engine=self.name, reason=reason)] * count

    @override
    def order_of(self, calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
        try:
            order = self.engine.order_of(calls, cut, limits)
        except BaseException as error:  # noqa: BLE001 an order is a proposal: others are asked
            reraise_interrupt(error)
            return None
        return None if order is None else np.asarray(order, dtype=np.int64)


def _of_each_key(outcomes: Outcomes, count: int) -> Outcomes:
    if len(outcomes) != count:
        raise ValueError(f"{len(outcomes)} outcomes for {count} keys")
    return outcomes


@cache
def installed() -> tuple[InstalledEngine, ...]:
    """Return the engines of other distributions, by name.

    Raises:
        CheckerInputError: An engine can't be loaded, or two different engines have one name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            both = " and ".join(sorted(map(origin_of, (other, entry))))
            raise CheckerInputError(
                f"engine {entry.name}: registered twice in {ENTRY_POINT_GROUP}, as {both}:"
                " rename or uninstall one"
            )
    return tuple(_loaded(found[name]) for name in sorted(found))


def _loaded(entry: EntryPoint) -> InstalledEngine:
    named = f"{entry.name} ({origin_of(entry)})"
    try:
        engine = entry.load()()
    except BaseException as error:
        reraise_interrupt(error)
        raise CheckerInputError(f"{crashed_engine(named, error)}: uninstall it") from error
    missing = [one for one in ("accepts", "decide", "order_of") if not hasattr(engine, one)]
    if missing:
        raise CheckerInputError(f"engine {named} has no {missing[0]}: it has to be an Engine")
    return InstalledEngine(named, engine)


def decide(calls: Calls, limits: Limits, workers: int = 1) -> Outcomes:
    """Return the outcome of each key, None for one that the general engine has to decide.

    Args:
        calls: All calls.
        limits: Time and memory for a key.
        workers: How many threads may decide keys; kernels run without Python's lock.
    """
    own = next((engine for engine in OWN if engine.accepts(calls)), None)
    if own is not None:
        outcomes = own.decide_in_threads(calls, limits, workers)
    else:
        outcomes = [None] * (len(calls.starts) - 1)
    for engine in installed():
        if not are_decided(outcomes) and engine.accepts(calls):
            others = engine.decide(calls, limits)
            outcomes = [_better(*pair) for pair in zip(outcomes, others, strict=True)]
    return outcomes


def order_of(calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
    """Return the rows of the only key up to an event in a legal order; None if none is known."""
    for engine in (*OWN, *installed()):
        order = engine.order_of(calls, cut, limits) if engine.accepts(calls) else None
        if order is not None:
            return calls.rows[order]
    return None


def _better(first: Outcome | None, second: Outcome | None) -> Outcome | None:
    """Return the first outcome if it is decided or the second engine has none."""
    if second is None or (first is not None and first.verdict is not Verdict.UNKNOWN):
        return first
    return second if first is None or second.verdict is not Verdict.UNKNOWN else first
