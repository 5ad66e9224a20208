"""A search for the additions of each gap between the answers of a growing counter.

Kernels for `checkers.engines.repeated.counter.growing`, which defines the candidates.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.chains import NONE
from kraftproof.checkers.engines.kernels.visited_states import is_known, remember
from kraftproof.checkers.engines.repeated.counter.gaps import Gaps
from kraftproof.checkers.engines.repeated.counter.steps import (
    DUE,
    FIRST,
    GAP,
    LENGTH,
    LENT,
    LOOKAHEAD,
    SCARCE,
    SUM,
    WORK,
    Search,
    answer,
    do,
    key,
    undo,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

LEGAL: Final = 1
ILLEGAL: Final = 0
GAVE_UP: Final = -1

_MOST_LEFT: Final = 62
"""So much is aimed at: sums are bits of a word."""
_BEFORE_ALL: Final = -NEVER
"""Before every turn."""


@kernel
def descend(gaps: Gaps, search: Search, most: int) -> int:
    """Search for an order in which each answer is right.

    Args:
        gaps: The answers and additions.
        search: A search at the beginning.
        most: The maximum number of remembered dead ends.

    Returns:
        LEGAL, ILLEGAL, or GAVE_UP beyond a bound.
    """
    now = search.now
    dead, known = np.full((16, max(len(search.done), 1)), NONE, dtype=np.int32), 0
    lean, lean_known = np.full((16, len(search.key)), NONE, dtype=np.int32), 0
    choices = [(0, 0, 0, 0) for _ in range(0)]  # (length, gap, turn, shortages before)
    after, short = _BEFORE_ALL, 0
    while True:
        gap, is_open = now[GAP], True
        if after == _BEFORE_ALL:
            short = now[SCARCE]
            is_open = answer(gaps, search) and not _is_dead(gaps, search, dead, lean)
        if now[GAP] == len(gaps.wanted):
            return LEGAL
        if now[WORK] < 0 or known + lean_known >= most:
            return GAVE_UP
        line, turn = _next_choice(gaps, search, after) if is_open else (NONE, NEVER)
        if line != NONE:
            choices.append((now[LENGTH], gap, turn, short))
            do(gaps, search, line)
            after = _BEFORE_ALL
            continue
        if short == now[SCARCE]:
            lean, lean_known = remember(lean, lean_known, key(gaps, search))
        else:
            dead, known = remember(dead, known, search.done)
        if len(choices) == 0:
            return ILLEGAL
        length, gap, after, short = choices.pop()
        while now[LENGTH] > length:
            undo(gaps, search)
        now[GAP] = gap
        answer(gaps, search)


@kernel
def _is_dead(gaps: Gaps, search: Search, dead: NDArray[np.int32], lean: NDArray[np.int32]) -> bool:
    """Return whether it is known that no order goes on from here.

    Args:
        gaps: the answers and adds.
        search: where it stands.
        dead: int32[2^i, k], states.
        lean: int32[2^j, l], states of which the sizes of optional adds don't matter.
    """
    search.now[WORK] -= len(search.done)
    if is_known(lean, key(gaps, search)):
        return True
    is_found = is_known(dead, search.done)
    search.now[SCARCE] += is_found
    return is_found


@kernel
def _next_choice(gaps: Gaps, search: Search, after: int) -> tuple[int, int]:
    """Return the line whose next add has the next turn, and that turn; NONE otherwise."""
    now = search.now
    count = _lookahead(gaps, search)
    if count == NONE:
        return NONE, NEVER
    left = gaps.wanted[now[GAP]] - now[SUM]
    before = gaps.late[now[GAP]]
    if now[FIRST] < len(gaps.completions):
        before = min(before, gaps.completions[now[FIRST]])
    due = _due(gaps, search, left, before)
    aim = _aim(gaps, search, left, before) if due == NONE else (NONE, NONE)
    found, soonest, all_turns = NONE, NEVER, len(gaps.size)
    now[WORK] -= len(search.done)
    for line in range(len(search.done)):
        add = gaps.line_starts[line] + search.done[line]
        if gaps.sure_lines <= line < gaps.get_lines:
            now[SCARCE] += _is_missed(gaps, search, line, left, before)
        if not _may_follow(gaps, search, line, left, before):
            continue
        turn = gaps.turn[add]
        if turn - all_turns >= soonest or (due != NONE and gaps.rank[add] != due):
            continue
        if _is_aimed(gaps, search, line, aim, before):
            turn -= all_turns
        if after < turn < soonest and _is_affordable(gaps, search, add, count):
            found, soonest = line, turn
    return found, soonest


@kernel
def _may_follow(gaps: Gaps, search: Search, line: int, left: int, before: int) -> bool:
    """Return whether a line's next add may come next, as the first of its size."""
    add = gaps.line_starts[line] + search.done[line]
    if add == gaps.line_starts[line + 1] or gaps.invoke[add] >= before or gaps.size[add] > left:
        return False
    if gaps.starts_from[add] != NONE:
        return bool(gaps.starts_from[add] == gaps.observed[search.now[GAP]] - left)
    search.now[WORK] -= gaps.sure_lines
    for rival_line in range(gaps.sure_lines):
        rival = gaps.line_starts[rival_line] + search.done[rival_line]
        if rival == gaps.line_starts[rival_line + 1] or gaps.size[rival] != gaps.size[add]:
            continue
        if gaps.invoke[rival] < before and gaps.rank[rival] < gaps.rank[add]:
            return False
    return True


@kernel
def _is_missed(gaps: Gaps, search: Search, line: int, left: int, before: int) -> bool:
    """Return whether an optional add of a line's size would fit, but the line is used up."""
    add = gaps.line_starts[line] + search.done[line]
    size = gaps.size[gaps.line_starts[line]]
    if size > left or search.now[LENT] + size > gaps.least_slack[search.now[GAP]]:
        return False
    return bool(add == gaps.line_starts[line + 1] or gaps.invoke[add] >= before)


@kernel
def _sums(gaps: Gaps, search: Search, left: int, before: int, without: int) -> int:
    """Return the sums of possible sure additions, up to the rest of the gap: a bit for each.

    A line may be excluded.
    """
    sums = 1
    search.now[WORK] -= gaps.sure_lines
    for line in range(gaps.sure_lines):
        add = gaps.line_starts[line] + search.done[line]
        if line == without or add == gaps.line_starts[line + 1] or gaps.size[add] > left:
            continue
        if gaps.invoke[add] < before:
            sums |= sums << gaps.size[add] & (1 << left + 1) - 1
    return sums


@kernel
def _aim(gaps: Gaps, search: Search, left: int, before: int) -> tuple[int, int]:
    """Return the part of the rest for sure additions, and the line of the remainder.

    The part is the whole rest if possible; else all but an optional addition, of the size with most
    left; else as much as possible.
    """
    if left > _MOST_LEFT:
        return NONE, NONE
    sums = _sums(gaps, search, left, before, NONE)
    if sums >> left & 1:
        return left, NONE
    chosen, most = NONE, 0
    for line in range(gaps.sure_lines, gaps.get_lines):
        add, end = gaps.line_starts[line] + search.done[line], gaps.line_starts[line + 1]
        if end - add <= most or gaps.size[add] > left or gaps.invoke[add] >= before:
            continue
        if sums >> left - gaps.size[add] & 1:
            chosen, most = line, end - add
    if chosen != NONE:
        return left - gaps.size[gaps.line_starts[chosen]], chosen
    best = left
    while not sums >> best & 1:
        best -= 1
    return best, NONE


@kernel
def _is_aimed(gaps: Gaps, search: Search, line: int, aim: tuple[int, int], before: int) -> bool:
    """Return whether the next addition of a line is part of the aim."""
    goal, optional = aim
    if line >= gaps.sure_lines:
        return goal == 0 and line == optional
    rest = goal - gaps.size[gaps.line_starts[line] + search.done[line]]
    return bool(rest >= 0 and _sums(gaps, search, rest, before, line) >> rest & 1 == 1)


@kernel
def _due(gaps: Gaps, search: Search, left: int, before: int) -> int:
    """Return the rank of an addition that should come next because it fits into no later gap.

    NONE otherwise, or if an optional add-and-get may need the sum before it.
    """
    now = search.now
    if now[DUE] == len(gaps.by_gap) or gaps.last_gap[now[DUE]] > now[GAP]:
        return NONE
    for line in range(gaps.get_lines, len(search.done)):
        start = gaps.starts_from[gaps.line_starts[line]]
        if (
            search.done[line] == 0
            and gaps.observed[now[GAP]] - left <= start < gaps.observed[now[GAP]]
        ):
            return NONE
    return int(now[DUE]) if gaps.invoke[gaps.by_gap[now[DUE]]] < before else NONE


@kernel
def _lookahead(gaps: Gaps, search: Search) -> int:
    """Fill in the slack; return the number of sure additions, NONE if the slack is used up."""
    now, count, due, place = search.now, 0, 0, search.now[DUE]
    while place < len(gaps.by_gap) and count < LOOKAHEAD:
        gap = gaps.last_gap[place]
        if gap == len(gaps.wanted):
            break
        if not search.is_done[gaps.by_gap[place]]:
            due += gaps.size[gaps.by_gap[place]]
        search.slack[count] = gaps.wanted[gap] - now[SUM] - due
        if search.slack[count] < 0:
            return NONE
        count, place = count + 1, place + 1
    now[WORK] -= count
    return count


@kernel
def _is_affordable(gaps: Gaps, search: Search, add: int, count: int) -> bool:
    """Return whether what must come before some answer still can, if an add comes first."""
    now, size, end = search.now, gaps.size[add], gaps.rank[add] - search.now[DUE]
    if gaps.rank[add] >= len(gaps.by_gap) and now[LENT] + size > gaps.least_slack[now[GAP]]:
        return False
    return bool(np.all(search.slack[: min(end, count)] >= size))
