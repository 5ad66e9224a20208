"""Shows that a history is invalid by its last call, alone or with one other, all else optional.

Where many calls may have taken effect, it may be hopeless to decide windows in which many others
are required; and often two show it: what overwrote a value and who found it later. What is optional
is as weak as can be, so that many of it are equal, and where calls are about values, first all but
those near the last call's are left out. Each candidate is a sound reduction, and a quick look
decides it.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Final

from checkers.explain.reductions import is_reducible, projected, tidied, weakest, window
from checkers.explain.subhistory import Entry, SubHistory
from checkers.explain.values import by_closeness, fewest
from checkers.models import SequentialModel
from checkers.models.reducible import AllBut

_MOST_OTHERS: Final = 64
"""So many calls are tried with the last, the last to return first."""
_VALUES: Final = (1, 2, 4, 8)

IsRefuted = Callable[[SubHistory], bool]


def few_required(
    model: SequentialModel,
    whole: SubHistory,
    decisive: Sequence[Collection[Hashable]],
    is_refuted: IsRefuted,
) -> SubHistory | None:
    """Returns a reduction in which one call is required, or two, that is invalid; None if unknown.

    Args:
        model: the model.
        whole: what was completed up to the first completion that no legal order reaches.
        decisive: sets of values, each of which may be enough to show it.
        is_refuted: says whether a candidate is surely invalid.
    """
    if not is_reducible(model):
        return _two_at_most(model, whole, is_refuted)
    reducible, found = model, list[SubHistory]()

    def is_enough(kept: Collection[Hashable]) -> bool:
        sub = projected(reducible, whole, AllBut(kept))
        shown = _two_at_most(model, sub, is_refuted)
        found.extend([] if shown is None else [shown])
        return shown is not None

    nearest = by_closeness(model, whole)
    sizes = (size for size in _VALUES if size < len(nearest))
    for some in (*decisive, *(nearest[:size] for size in sizes)):
        if is_enough(some):
            fewest(list(some), is_enough)
            return found[-1]
    return _two_at_most(model, whole, is_refuted)


def _two_at_most(
    model: SequentialModel, whole: SubHistory, is_refuted: IsRefuted
) -> SubHistory | None:
    required = [one for one in whole.entries if one.is_required]
    if not required:
        return None
    required.sort(key=_end_of, reverse=True)
    last = required[0]
    weak = weakest(model, whole)
    found: list[SubHistory] = []
    for other in required[: 1 + _MOST_OTHERS]:
        pairs = zip(whole.entries, weak.entries, strict=True)
        entries = tuple(one if one in (last, other) else less for one, less in pairs)
        since = min(last.operation.invoke_index, other.operation.invoke_index)
        sub = window(model, replace(whole, entries=entries), since, (last, other))
        sub = None if sub is None else tidied(model, sub)
        if sub is not None and is_refuted(sub):
            found.append(sub)
            if len(sub) <= 2:
                break
    return min(found, key=len, default=None)


def _end_of(entry: Entry) -> int:
    return entry.operation.complete_index or 0
