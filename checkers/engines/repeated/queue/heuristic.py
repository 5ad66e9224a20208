"""The data by which `checkers.engines.repeated.queue.search` rates the states of a queue."""

from typing import NamedTuple

import numpy as np

from kraftproof.checkers.engines.repeated.queue.bounds import (
    Bounds,
    Numbers,
    bounds_of,
    kinds_of,
    summed,
)
from kraftproof.checkers.engines.repeated.queue.layout import Ints, Lines
from kraftproof.checkers.history.columns import NEVER


class Heuristic(NamedTuple):
    """The data by which states are rated.

    A state's row has for each line how many of its calls have their place; then for each kind how
    many elements have, how many completed puts, and how many takes; then how many calls have
    theirs that need not have happened.

    Attributes:
        width: how many numbers a row has.
        kinds: how many kinds of values there are.
        bounds: how many elements of each may be among the first.
        puts: int32[p + 1, kinds], how many of each are among the first of the completed puts,
            by the middle of their intervals.
        takes: int32[t + 1, kinds], likewise.
        lookahead: int64[h], as many puts and takes ahead it is asked whether they agree.
        ends: int64[n + 1], sums of the completions of calls.
    """

    width: int
    kinds: int
    bounds: Bounds
    puts: Numbers
    takes: Numbers
    lookahead: Ints
    ends: Ints


def heuristic_of(lines: Lines) -> Heuristic:
    """Return what to be guided by among the orders of some calls."""
    kinds = kinds_of(lines)
    ends = np.where(lines.complete != NEVER, lines.complete, 0)
    span = max(4, lines.nones // 2)
    return Heuristic(
        width=len(lines.starts) + 3 * kinds,
        kinds=kinds,
        bounds=bounds_of(lines),
        puts=_by_middle(lines, 0, lines.takes, kinds),
        takes=_by_middle(lines, lines.takes, lines.nones, kinds),
        lookahead=np.asarray([span // 4, span // 2, span, 2 * span]),
        ends=np.concatenate(([0], np.cumsum(ends))),
    )


def _by_middle(lines: Lines, first: int, last: int, kinds: int) -> Numbers:
    calls = np.arange(lines.starts[first], lines.starts[last])
    calls = calls[lines.complete[calls] != NEVER]
    middle = lines.invoke[calls] + lines.complete[calls]
    return summed(lines.element[calls[np.argsort(middle, kind="stable")]], kinds)
