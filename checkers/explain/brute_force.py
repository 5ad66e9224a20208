"""Looks at a small sub-history once more, by trying every order: the definition and no more.

It shares nothing with the engines and asks nothing of a model but its step: it knows neither pure
calls nor normal forms, prunes nothing, and only remembers where it has been. So a mistake of an
engine, of a reduction's bookkeeping or of a model's hint does not go unseen here.
"""

from collections.abc import Hashable
from typing import Final

from checkers.explain.subhistory import SubHistory
from checkers.models import SequentialModel

_MOST_LOOKED_AT: Final = 5_000_000
"""Places that have been looked at, times the calls of the history: a few seconds."""


def is_linearizable(model: SequentialModel, sub: SubHistory) -> bool | None:
    """Says whether there is a legal order; None if the sub-history is too large to try all.

    A legal order holds every required call, any of the others, and none after a call that was over
    before it was invoked.
    """
    required = sum(1 << n for n, entry in enumerate(sub.entries) if entry.is_required)
    seen = {(0, state) for state in sub.starts}
    waiting = list(seen)
    while waiting:
        placed, state = waiting.pop()
        if placed & required == required:
            return True
        for number in _next(sub, placed):
            following = model.step(state, sub.entries[number].call)
            if following is None:
                continue
            place = (placed | 1 << number, following)
            if place not in seen:
                seen.add(place)
                waiting.append(place)
        if len(seen) * len(sub) > _MOST_LOOKED_AT:
            return None
    return False


def _next(sub: SubHistory, placed: int) -> list[int]:
    """The calls that were invoked before any that is not placed yet was over."""
    left = [n for n in range(len(sub)) if not placed >> n & 1]
    soonest = min((_end(sub, n) for n in left if sub.entries[n].is_required), default=None)
    return [n for n in left if soonest is None or sub.entries[n].operation.invoke_index < soonest]


def _end(sub: SubHistory, number: int) -> int:
    complete: Hashable = sub.entries[number].operation.complete_index
    assert isinstance(complete, int), "what is required has completed"
    return complete
