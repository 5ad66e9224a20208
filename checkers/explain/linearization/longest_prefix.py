"""Finds the longest linearizable prefix when the search for a whole linearization failed.

Some histories are clearly invalid at one operation, although the time limit is too short to decide
whether the earlier operations have a legal order. Then the prefix is halved until an order is
found.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from kraftproof.checkers.explain.linearization.linearization import longest_linearization
from kraftproof.checkers.explain.reduction.reductions import until
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel

_PROBES: Final = 6


class Known(NamedTuple):
    """A linearization and its length.

    Attributes:
        order: the calls.
        completed: the number of completed operations, all of which the order contains.
    """

    order: list[Entry]
    completed: int


def longest_prefix(
    model: SequentialModel,
    before: SubHistory,
    seconds: float,
    proposed: Callable[[int, float], Sequence[int] | None],
) -> Known | None:
    """Return an order of the longest prefix that could be linearized, by bisection.

    None if no prefix could be.

    Args:
        model: the model.
        before: the sub-history without a known order; it begins with the history.
        seconds: the limit of processor time, for all probes together.
        proposed: returns, for a prefix up to an event and a limit of seconds, the indices of
            operations in a possibly legal order; None without a proposal.
    """
    ends = sorted(
        end
        for one in before.entries
        if one.is_required and (end := one.operation.complete_index) is not None
    )
    known, least, most = None, 0, len(ends) - 1
    share = seconds / _PROBES
    for _ in range(_PROBES):
        if least >= most:
            break
        middle = (least + most + 1) // 2
        end = ends[middle - 1]
        order = longest_linearization(
            model, until(model, before, end), share, partial(proposed, end, share)
        )
        if order is None:
            most = middle - 1
        else:
            known, least = Known(order, middle), middle
    return known
