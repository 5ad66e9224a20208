"""The calls of a queue whose elements may be equal, in lines.

For `checkers.engines.repeated.queue.queue`, which says what the lines are for.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.chains import chains_of
from kraftproof.checkers.history.columns import NEVER

Ints = NDArray[np.int64]


class Lines(NamedTuple):
    """The calls of a prefix, n of them in k lines: puts first, then takes, then those of none.

    Attributes:
        invoke: int64[n], by line, and ascending in each.
        complete: int64[n], NEVER for a call that need not have happened.
        element: int64[n], what was put or taken, NO_VALUE for a take that nobody knows of.
        starts: int64[k + 1], where each line begins.
        line: int64[n].
        takes: the first line of takes.
        nones: the first line of empty takes.
    """

    invoke: Ints
    complete: Ints
    element: Ints
    starts: Ints
    line: Ints
    takes: int
    nones: int


class Queue(NamedTuple):
    """The calls of a key, n of them.

    Attributes:
        action: int8[n], as in `ContainerCalls`.
        element: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
    """

    action: NDArray[np.int8]
    element: Ints
    invoke: Ints
    complete: Ints


def queue_of(calls: ContainerCalls, start: int, end: int) -> Queue:
    """Return the calls of a key."""
    span = slice(start, end)
    return Queue(calls.action[span], calls.element[span], calls.invoke[span], calls.complete[span])


def lines_of(queue: Queue, cut: int) -> Lines:
    """Lay the calls of a prefix, up to an event, in lines.

    Those of one kind that completed are in as few lines as they can be, those that need not have
    happened in one for each value.
    """
    is_over, is_begun = queue.complete <= cut, queue.invoke <= cut
    is_taken = np.zeros(queue.element.max(initial=NO_VALUE) + 2, dtype=np.bool_)
    is_taken[queue.element[(queue.action == TAKE) & is_begun]] = True
    is_taken[NO_VALUE] = False  # a take of anything takes no put that need not have happened
    calls, lines, starts, count = [], [], [], 0
    for kind in (PUT, TAKE, FOUND_NONE):
        starts.append(count)
        of_kind = (queue.action == kind) & is_begun
        (sure,) = np.nonzero(of_kind & is_over)
        lane, _, lanes = chains_of(queue.invoke[sure], queue.complete[sure], len(sure) + 1)
        may_be = is_taken[queue.element] if kind == PUT else of_kind & (kind == TAKE)
        (unsure,) = np.nonzero(of_kind & ~is_over & may_be)
        values, of_value = np.unique(queue.element[unsure], return_inverse=True)
        calls += [sure, unsure]
        lines += [count + lane, count + lanes + of_value]
        count += lanes + len(values)
    order, line = np.concatenate(calls), np.concatenate(lines)
    by_line = np.lexsort((order, line))
    order, line = order[by_line], line[by_line]
    return Lines(
        invoke=queue.invoke[order],
        complete=np.where(is_over, queue.complete, NEVER)[order],
        element=queue.element[order],
        starts=np.searchsorted(line, np.arange(count + 1)).astype(np.int64),
        line=line,
        takes=starts[1],
        nones=starts[2],
    )
