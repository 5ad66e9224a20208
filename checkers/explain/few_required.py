"""Shows that a history is invalid by its last call, alone or with one other, all else optional.

Where many calls may have taken effect, it may be hopeless to decide windows in which many others
are required; and often two show it: what overwrote a value and who found it later. What is optional
is as weak as can be, so that many of it are equal, and where calls are about values, first all but
those near the last call's are left out. Each candidate is a sound reduction, and a quick look
decides it.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from checkers.engines.plan import plan_of
from checkers.explain.budget import Budget
from checkers.explain.reductions import is_reducible, projected, tidied, weakest, window
from checkers.explain.subhistory import Entry, SubHistory
from checkers.explain.values import fewest
from checkers.models import SequentialModel
from checkers.models.reducible import AllBut
from checkers.verdict import Verdict

_MOST_OTHERS: Final = 64
"""So many calls are tried with the last, the last to return first."""
_MOST_ALIKE: Final = 4
"""Of equal calls so many."""
_VALUES: Final = (1, 2, 4, 8)
_SHORT: Final = 8
"""So few calls are searched in a millisecond."""
_SHORT_BYTES: Final = 100_000


def few_required(
    model: SequentialModel,
    whole: SubHistory,
    values: Iterable[Sequence[Hashable]],
    budget: Budget,
) -> SubHistory | None:
    """Returns a reduction in which one call is required, or two, that is invalid; None if unknown.

    Args:
        model: the model.
        whole: what was completed up to the first completion that no legal order reaches.
        values: sets of values, each of which may be enough to show it.
        budget: the time for it.
    """
    if not is_reducible(model):
        return None
    reducible, found = model, list[SubHistory]()

    def is_enough(kept: Collection[Hashable]) -> bool:
        shown = two_required(model, projected(reducible, whole, AllBut(kept)), budget)
        found.extend([] if shown is None else [shown])
        return shown is not None

    for some in values:
        if is_enough(some):
            fewest(list(some), is_enough)
            return min(found, key=len)
    return None


def nearest(values: Sequence[Hashable]) -> Iterator[Sequence[Hashable]]:
    """Yields a few sets of values that come first, of all in order of how near they are."""
    return (values[:size] for size in _VALUES if size < len(values))


def two_required(model: SequentialModel, whole: SubHistory, budget: Budget) -> SubHistory | None:
    """Returns it with one call required, or two, and invalid all the same; None if unknown."""
    required = [one for one in whole.entries if one.is_required]
    if not required:
        return None
    required.sort(key=_end_of, reverse=True)
    last, others = required[0], list(islice(_first_of_each(required), 1 + _MOST_OTHERS))
    tried = {one.operation.index for one in others}
    pairs = [  # what is pure and need not have happened would be left out each time
        (one, less)
        for one, less in zip(whole.entries, weakest(model, whole).entries, strict=True)
        if one.operation.index in tried or not model.is_pure(less.call)
    ]
    found: list[SubHistory] = []
    for other in others:
        entries = tuple(one if one in (last, other) else less for one, less in pairs)
        if not budget.has_time():
            break
        since = min(last.operation.invoke_index, other.operation.invoke_index)
        sub = window(model, replace(whole, entries=entries), since, (last, other))
        if sub is None:
            continue
        sub = tidied(model, sub)
        if _is_refuted(model, sub, budget):
            found.append(sub)
            if len(sub) <= 2:
                break
    return min(found, key=len, default=None)


def _is_refuted(model: SequentialModel, sub: SubHistory, budget: Budget) -> bool:
    """Says whether it is invalid: even with endless calls, or as it is if it is short."""
    plan = plan_of(model, list(sub.entries))
    if budget.is_refuted(model, plan, sub.starts):
        return True
    if len(sub) > _SHORT:
        return False
    return budget.searched(model, plan, sub.starts, _SHORT_BYTES).verdict is Verdict.INVALID


def _first_of_each(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yields entries but for those of a call of which some came already."""
    seen: Counter[Hashable] = Counter()
    for entry in entries:
        seen[entry.call] += 1
        if seen[entry.call] <= _MOST_ALIKE:
            yield entry


def _end_of(entry: Entry) -> int:
    return entry.operation.complete_index or 0
