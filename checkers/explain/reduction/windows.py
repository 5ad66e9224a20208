"""Finds the latest window of a history that is invalid.

It grows back from the end, twice as far each time, so that the cost follows the size of the answer
and not of the history; then it is bisected: a window that begins earlier holds what a later one
does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from kraftproof.checkers.explain.reduction.reductions import tidied, window
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.models import SequentialModel

_FEW_UNSURE: Final = 32
"""With so many calls that may have taken effect, a window is likely to be decided."""

IsInvalid = Callable[[SubHistory], bool]


def put_off(candidates: Iterable[SubHistory], hopeless: list[SubHistory]) -> Iterator[SubHistory]:
    """Yields candidates whose windows are likely to be decided, and adds the others to a list."""
    for sub in candidates:
        if sum(not one.is_required for one in sub.entries) <= _FEW_UNSURE:
            yield sub
        else:
            hopeless.append(sub)


def smallest_window(
    model: SequentialModel, whole: SubHistory, is_invalid: IsInvalid
) -> SubHistory | None:
    """Returns the latest window that is invalid, or the whole if it alone is; None if unknown.

    One that begins after the last call to return was invoked is valid: there that call is
    optional, as it is in what came before its return.

    Args:
        model: the model.
        whole: what was completed up to the first completion that no legal order reaches.
        is_invalid: says whether a sub-history is surely invalid.
    """
    begins = _begins(whole)
    if not begins:
        return None
    last = whole.last_to_return().operation.invoke_index
    valid = sum(begin > last for begin in begins)
    size = valid + 1
    while size < len(begins):
        candidate = _window(model, whole, begins[-size])
        if candidate is not None and is_invalid(candidate):
            return _later(model, whole, valid, size, candidate, is_invalid)
        if candidate is None:
            break
        size, valid = size * 2, size
    tidy = tidied(model, whole)
    if not is_invalid(tidy):
        return None
    return _later(model, whole, valid, len(begins) + 1, tidy, is_invalid)


def begun_later(model: SequentialModel, sub: SubHistory, is_invalid: IsInvalid) -> SubHistory:
    """Returns the latest window of an invalid sub-history that is invalid: maybe all of it."""
    return _later(model, sub, 0, len(_begins(sub)) + (sub.since is None), sub, is_invalid)


def _later(
    model: SequentialModel,
    whole: SubHistory,
    valid: int,
    size: int,
    found: SubHistory,
    is_invalid: IsInvalid,
) -> SubHistory:
    """Bisects between a number of last calls that is not enough and one that is."""
    begins = _begins(whole)
    while size - valid > 1:
        middle = (size + valid) // 2
        candidate = _window(model, whole, begins[-middle])
        if candidate is not None and is_invalid(candidate):
            size, found = middle, candidate
        else:
            valid = middle
    return found


def _begins(sub: SubHistory) -> Sequence[int]:
    return [one.operation.invoke_index for one in sub.entries if one.is_required]


def _window(model: SequentialModel, whole: SubHistory, since: int) -> SubHistory | None:
    candidate = window(model, whole, since)
    return None if candidate is None else tidied(model, candidate)
