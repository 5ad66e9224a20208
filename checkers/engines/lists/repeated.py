"""Lists with repeated elements, a single action a call: linearizability of each list.

The longest read of a list tells its elements by position, but not the append of each position. The
append of a position comes after the appends of all earlier positions, after the invocation of every
shorter read, and before the completion of any read of the position. So a legal order exists if and
only if the positions can be filled in order, each at a moment within these bounds at which an
unused append of its element is open, such that in the end every completed append filled a position,
or comes after the longest read.

The sweep passes the completions in order and fills a position only when necessary: before a read
completes, the positions that it read; before an append completes, the positions up to the next of
its element, or all of them, and then the append itself. Of the open appends of an element, the
first to complete fills the position. Neither rule loses an order: take an order that agrees with
the sweep up to some position. The append of that position is still open when the sweep fills it,
because earlier completions were handled before; so it can move to that moment. Two equal open
appends can change places if the one that stays open longer goes later.

A decision takes O(n c), c being the open appends of an element at a time, after O(elements read) to
check that one of two reads is a prefix of the other. Bisection finds the first illegal completion
(`checkers.engines.kernels.bisection`).
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.lists.elements import ABORTED, UNKNOWN
from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.calls.lists.places import Places, appends_up_to
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of
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
    """Return the outcome of a key, calls start to end; None if a call has several actions."""
    if int(calls.actions[end] - calls.actions[start]) > end - start:
        return None
    lists = Lists.of(calls, start, end)
    first = calls.first[calls.actions[start] : calls.actions[end]] - int(calls.actions[start])
    by_completion = np.argsort(lists.complete, kind="stable")

    def problem_of(_start: int, _end: int, cut: int) -> int:
        return _problem(lists, first, by_completion, min(cut, NEVER - 1))

    first_illegal = find_first_illegal(
        calls, start, end, lambda *prefix: problem_of(*prefix) == LEGAL
    )
    if first_illegal is None:
        return outcome_of(calls, start, end, None, engine)
    anomaly = NAMES.get(problem_of(start, end, int(calls.complete[first_illegal])))
    return outcome_of(calls, start, end, first_illegal, engine, anomaly)


def _problem(lists: Lists, first: Ints, by_completion: Ints, cut: int) -> int:
    """Return what is wrong with the calls up to a cut, LEGAL if nothing is."""
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
