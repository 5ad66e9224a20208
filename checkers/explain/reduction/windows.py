"""Finds the latest window of a history that is invalid.

The window grows from the end by doubling, so that the cost follows the size of the answer and not
of the history. Then the start is bisected: an earlier start contains every later window.
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
    """Yield candidates whose windows are likely to be decided, and adds the others to a list."""
    for sub in candidates:
        if sum(not one.is_required for one in sub.entries) <= _FEW_UNSURE:
            yield sub
        else:
            hopeless.append(sub)


def smallest_window(
    model: SequentialModel, whole: SubHistory, is_invalid: IsInvalid
) -> SubHistory | None:
    """Return the latest invalid window, or the whole if only the whole is invalid.

    None if undecided.

    A window that begins after the invocation of the last call is valid: the last call is optional
    there, as in the prefix before its return.

    Args:
        model: the model.
        whole: the operations completed up to the first illegal completion.
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
    """Return the latest invalid window of an invalid sub-history, possibly the whole."""
    return _later(model, sub, 0, len(_begins(sub)) + (sub.since is None), sub, is_invalid)


def _later(
    model: SequentialModel,
    whole: SubHistory,
    valid: int,
    size: int,
    found: SubHistory,
    is_invalid: IsInvalid,
) -> SubHistory:
    """Bisect between an insufficient and a sufficient number of last calls."""
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
