"""Lists to which equal elements are appended, one action a call: linearizability of each list.

The longest read of a list says what its elements are, place by place, and not which append made
which. An append that makes a place comes after those of the places before it, after every read that
saw less was invoked, and before any that saw it completed. So there is a legal order if and only if
the places can be made one after the other, each at a moment within these bounds at which an append
of its element is open that made none before, so that in the end every append that completed made a
place, or comes after the longest read.

The sweep passes one completion after the other and makes no place before it has to: before a read
completes, those that it saw; before an append completes, those up to the next of its element, or
all of them, after which it comes itself. Of the open appends of an element the one to complete
first makes the place. Neither loses an order: take one that agrees with the sweep up to some place.
What makes that place and those after it is open still when the sweep makes it, for what completes
before was made then; so they can be made as late as that; and the first to complete of two equal
open appends can change places with the other, which is open for longer.

So it takes O(n c) a decision, c the appends of one element that are open at a time, after it took
O(elements seen) to find that of two reads one is the beginning of the other. The first stuck
completion is found by bisection (`checkers.engines.kernels.bisection`).
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.lists.elements import ABORTED, UNKNOWN
from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.calls.lists.places import Places, appends_up_to
from kraftproof.checkers.engines.kernels.bisection import first_stuck, outcome_of
from kraftproof.checkers.engines.lists.anomalies import NAMES
from kraftproof.checkers.engines.lists.graph import Lists
from kraftproof.checkers.engines.lists.order import (
    ABORTED_READ,
    INCOMPATIBLE,
    LEGAL,
    PHANTOM,
    Ints,
    longest_reads,
    stray_read,
)
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER

_NO_ORDER: Final = -1
"""What is wrong has no name of its own."""


def decide_repeated(calls: ListCalls, start: int, end: int, engine: str) -> Outcome | None:
    """Returns the outcome of a key, calls start to end; None if a call has several actions."""
    if int(calls.actions[end] - calls.actions[start]) > end - start:
        return None
    lists = Lists.of(calls, start, end)
    first = calls.first[calls.actions[start] : calls.actions[end]] - int(calls.actions[start])
    by_completion = np.argsort(lists.complete, kind="stable")

    def problem_of(_start: int, _end: int, cut: int) -> int:
        return _problem(lists, first, by_completion, min(cut, NEVER - 1))

    stuck = first_stuck(calls, start, end, lambda *prefix: problem_of(*prefix) == LEGAL)
    if stuck is None:
        return outcome_of(calls, start, end, None, engine)
    anomaly = NAMES.get(problem_of(start, end, int(calls.complete[stuck])))
    return outcome_of(calls, start, end, stuck, engine, anomaly)


def _problem(lists: Lists, first: Ints, by_completion: Ints, cut: int) -> int:
    """Returns what is wrong with the calls up to a cut, LEGAL if nothing is."""
    count = int(lists.list_number.max(initial=-1)) + 1
    counts = lists.is_read & (lists.complete <= cut)
    longest = longest_reads(count, counts, lists.list_number, lists.seen)
    if stray_read(counts, lists.list_number, lists.seen, lists.elements, longest) >= 0:
        return INCOMPATIBLE
    lengths = np.diff(lists.seen)
    parts = [lists.elements[lists.seen[one] : lists.seen[one + 1]] for one in longest if one >= 0]
    elements = np.concatenate([lists.elements[:0], *parts])
    for element, problem in ((ABORTED, ABORTED_READ), (UNKNOWN, PHANTOM)):
        if (elements == element).any():
            return problem
    places = Places(
        invoke=lists.invoke,
        complete=lists.complete,
        by_completion=by_completion,
        list_number=lists.list_number,
        first=first,
        length=np.where(lists.is_read, lengths, -1),
        elements=elements,
        starts=np.cumsum(np.append(0, np.where(longest >= 0, lengths[longest], 0))),
    )
    has_order, _ = appends_up_to(places, cut)
    return LEGAL if has_order else _NO_ORDER
