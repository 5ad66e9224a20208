"""How far a linearization is known, where none is found of all that was completed before.

Some histories are plainly invalid at one operation, while whether what came before has a legal
order is hopeless to say in the time there is. Then the prefix is halved until an order is found.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from kraftproof.checkers.explain.linearization.linearization import longest_linearization
from kraftproof.checkers.explain.reduction.reductions import until
from kraftproof.checkers.explain.subhistory import Entry, SubHistory
from kraftproof.checkers.models import SequentialModel

_PROBES: Final = 6


class Known(NamedTuple):
    """A linearization and how far it goes.

    Attributes:
        order: the calls.
        completed: how many operations were completed by then, all in the order.
    """

    order: list[Entry]
    completed: int


def longest_prefix(
    model: SequentialModel,
    before: SubHistory,
    seconds: float,
    proposed: Callable[[int, float], Sequence[int] | None],
) -> Known | None:
    """Returns an order of the longest prefix of which one is found, by bisection; None if of none.

    Args:
        model: the model.
        before: the sub-history of which no order was found, which begins with the history.
        seconds: the limit of processor time, for all probes together.
        proposed: returns, for a prefix up to an event and so many seconds, indices of its
            operations in an order that may be legal; None for no idea.
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
