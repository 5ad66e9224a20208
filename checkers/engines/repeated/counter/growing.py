"""Counters that only grow, by additions of any size: a search for the additions of each gap.

If every addition is positive, an answer with a smaller sum precedes an answer with a greater sum,
and a read precedes the add-and-get that starts from its sum. The order of the answers is therefore
given, and only the plain additions of each *gap* are open: before each answer, and after the last.
The sum of a gap is given too, so this is a subset sum, which is NP-hard; but few additions are open
at a time. Indeterminate additions, and additions open at the end of a prefix, are *optional*: they
take effect at any time after their invocation, or never. An open add-and-get is optional and takes
effect at the sum that it returned, or never.

The search goes depth first (Wing and Gong, 1993; Lowe, 2017), addition by addition, and passes an
answer as soon as its sum is reached. Among the next candidates by real time,

- of equal size, the addition that completes first goes first, optional ones last, by invocation:
  another addition in its place can be exchanged with it;
- an addition that fits into no later gap goes first, unless an open add-and-get may need a sum in
  between: all additions of a gap are equal for its answer;
- no addition may leave too little for the additions that must precede some answer, by the last gap
  possible for each. Each is brought forward to a gap with enough capacity.

A state is the set of finished additions. A state without a continuation is remembered. If no size
of optional additions ran short on the way, it stands for all states with the same sum of optional
additions, whatever their sizes. The order of attempts decides how soon a valid history is found:
first additions that make up the gap exactly, greatest first; then additions that do so together
with a single optional addition, of the size with most left.

Bounds come first, in O(n log n): the additions that must, and that can, precede each answer. They
refute most invalid histories. The search takes O(n (c + s)) without dead ends, c being the open
additions at a time and s the sizes of optional additions. Memory is O(n), and 4 (c + s) bytes for
each remembered state.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kraftproof.checkers.calls.counter import ADD_AND_GET, READ, CounterCalls
from kraftproof.checkers.engines.kernels.bisection import (
    decide_between,
    find_first_illegal,
    outcome_of,
)
from kraftproof.checkers.engines.kernels.chains import Ints
from kraftproof.checkers.engines.repeated.counter.descent import ILLEGAL, LEGAL, descend
from kraftproof.checkers.engines.repeated.counter.gaps import Counter, gaps_of
from kraftproof.checkers.engines.repeated.counter.steps import LENGTH, WORK, begin
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

_WORK_A_SECOND: Final = 20_000_000
"""So little on any machine; the cost of a key is counted, not timed."""
_STATE_BYTES: Final = 16
"""What a remembered state costs for each line, in a table that may have just grown."""
_ENGINE: Final = "counter-growing"


def decide_growing(calls: CounterCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    """Return the outcome of a key whose adds are all positive, None past its limits."""
    span = slice(start, end)
    counter = Counter(
        calls.action[span], calls.delta[span], calls.value[span],
        calls.invoke[span], calls.complete[span],
    )  # fmt: skip
    prefixes = _Prefixes(counter, limits.memory_bytes, int(limits.seconds * _WORK_A_SECOND))
    refuted = find_first_illegal(calls, start, end, lambda _start, _end, cut: prefixes.may_be(cut))
    cut = NEVER
    if refuted is not None:
        complete = counter.complete
        cut = int(complete[complete < calls.complete[refuted]].max(initial=-1))
    if prefixes.decide(cut) == LEGAL:
        return outcome_of(calls, start, end, refuted, _ENGINE)
    return decide_between(
        calls, start, end, _ENGINE,
        lambda _start, _end, cut: prefixes.decide(cut) == LEGAL,
        lambda _start, _end, cut: prefixes.decide(cut) != ILLEGAL,
    )  # fmt: skip


def order_of(calls: CounterCalls, cut: int, limits: Limits) -> Ints | None:
    """Return the updates of the only key up to an event in a legal order; None if none is known.

    Adds that may come after all answers do so, by completion.
    """
    if (calls.delta[calls.action != READ] <= 0).any():
        return None
    counter = Counter(calls.action, calls.delta, calls.value, calls.invoke, calls.complete)
    gaps = gaps_of(counter, cut)
    if gaps is None:
        return None
    search = begin(gaps, int(limits.seconds * _WORK_A_SECOND))
    if descend(gaps, search, limits.memory_bytes // _STATE_BYTES // len(gaps.line_starts)) != LEGAL:
        return None
    lines = search.trail[: search.now[LENGTH]]
    late = gaps.by_completion[~search.is_done[gaps.by_completion]]
    adds = np.concatenate((_adds_of(lines, gaps.line_starts), late))
    adds = np.searchsorted(calls.invoke, gaps.invoke[adds])
    answered = np.flatnonzero((calls.action == ADD_AND_GET) & (calls.complete <= cut))
    return _merged(calls.delta, adds, answered, calls.value - calls.delta)


def _adds_of(lines: Ints, line_starts: Ints) -> Ints:
    """Return the adds that were done, given the lines of which they were the next."""
    by_line = np.argsort(lines, kind="stable")
    begins = np.searchsorted(lines[by_line], np.arange(len(line_starts)))
    adds = np.empty(len(lines), dtype=np.int64)
    adds[by_line] = np.arange(len(lines)) - begins[lines[by_line]] + line_starts[lines[by_line]]
    return adds


def _merged(delta: Ints, adds: Ints, answered: Ints, start: Ints) -> Ints:
    """Return adds, in their order, and add-and-gets, each where the sum is what it starts from."""
    starting = {int(start[call]): call for call in answered.tolist()}
    order, total = [], 0
    for add in [*adds.tolist(), None]:
        while (call := starting.pop(total, None)) is not None:
            order.append(call)
            total += int(delta[call])
        if add is not None:
            order.append(add)
            total += int(delta[add])
    return np.array(order, dtype=np.int64)


@dataclass(slots=True)
class _Prefixes:
    """Decides prefixes of a key.

    Attributes:
        counter: its calls.
        memory_bytes: what may be remembered.
        work: how much the key may still cost.
        decided: what was decided, by the last event of the prefix.
    """

    counter: Counter
    memory_bytes: int
    work: int
    decided: dict[int, int] = field(default_factory=dict)

    def may_be(self, cut: int) -> bool:
        """Return whether bounds leave it open that a prefix is legal."""
        return gaps_of(self.counter, cut) is not None

    def decide(self, cut: int) -> int:
        """Return of a prefix whether it is LEGAL, ILLEGAL, or too much."""
        if cut not in self.decided:
            self.decided[cut] = self._searched(cut)
        return self.decided[cut]

    def _searched(self, cut: int) -> int:
        gaps = gaps_of(self.counter, cut)
        if gaps is None:
            return ILLEGAL
        search = begin(gaps, self.work)
        verdict = descend(gaps, search, self.memory_bytes // (_STATE_BYTES * len(gaps.line_starts)))
        self.work = int(search.now[WORK])
        return verdict
