"""A beam search for an order of a queue with repeated elements.

Kernels for `checkers.engines.repeated.queue.queue`, which defines a state. The search goes from
level to level; the states of a level have equally many required calls in place. If a level has too
many states, the best are kept (Lowerre, "The Harpy speech recognition system", 1976): states that
used the fewest optional calls, and among these, states that

- are far from the bounds on the count of each value (`checkers.engines.repeated.queue.bounds`);
  states beyond the bounds are never made;
- have placed as many puts and takes of each value as are due, if each call is due at the middle of
  its interval;
- will have to put and take about as many elements of each value in the next levels.

Of states with equal costs, only the state whose calls complete first is kept.

If no state is left, the search goes back some levels and keeps more states until it is past that
level, then goes farther back. If every state was kept on all levels and none reached the end, no
order exists.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.hashing import mix
from kraftproof.checkers.engines.kernels.visited_states import NONE, Rows, remember
from kraftproof.checkers.engines.repeated.queue.bounds import Bounds
from kraftproof.checkers.engines.repeated.queue.heuristic import Heuristic
from kraftproof.checkers.engines.repeated.queue.layout import Ints, Lines
from kraftproof.checkers.engines.repeated.queue.steps import (
    capacity_for,
    due,
    following,
    is_through,
    next_of,
    settle,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel, kernel

LEGAL: Final = 1
ILLEGAL: Final = 0
GAVE_UP: Final = -1

_INDETERMINATE: Final = 4_000
"""The cost of an optional call: more than most differences of counts."""
_NEAR: Final = 8
_EDGE: Final = 128
"""What it costs to be on a bound, and not between."""
_MOST_COST: Final = 1 << 40
_TABLE: Final = 128
_NARROWEST: Final = 8
"""So many states are kept on a level at first."""
_WIDER: Final = 4
_FARTHER: Final = 2
"""The factors by which the width and the distance grow after a failure."""
_STRIDE: Final = 64
"""One in so many levels can be turned back to."""


@kernel
def search(lines: Lines, heuristic: Heuristic, capacity: int, most: int) -> tuple[int, int]:
    """Search for an order.

    Args:
        lines: the calls of a prefix.
        heuristic: of `heuristic_of`.
        capacity: so many states may be kept on a level.
        most: so many states may be met.

    Returns:
        LEGAL, ILLEGAL or GAVE_UP; and the last event by which something was always due.
    """
    lanes = len(lines.starts) - 1
    if lanes == 0:
        return LEGAL, NEVER
    now, soon = first_row(lines, heuristic), np.zeros((0, heuristic.width), np.int32)
    trail, level, failed, reached = [(now, soon, True)], 0, -1, -1
    keep, back, is_whole = min(_NARROWEST, capacity), 1, True
    while most >= 0 and capacity > 0:
        is_whole &= len(now) <= keep and len(soon) <= keep
        now, soon = best(lines, heuristic, now, keep), best(lines, heuristic, soon, keep)
        if len(now) + len(soon) > 0:
            if level == len(trail) * _STRIDE:
                trail.append((now, soon, is_whole))
            most -= len(now)
            last, is_legal, now, soon = advance(lines, heuristic, now, soon)
            if is_legal:
                return LEGAL, NEVER
            reached, level = max(reached, last), level + 1
            if level > failed + _STRIDE:
                keep, back = min(_NARROWEST, capacity), 1
        elif is_whole:
            return ILLEGAL, reached
        elif keep == capacity:
            return GAVE_UP, reached
        else:
            failed, keep, back = max(failed, level), min(keep * _WIDER, capacity), back * _FARTHER
            place = max(0, failed // _STRIDE - back) if keep < capacity else 0
            while len(trail) > place + 1:
                trail.pop()
            level, (now, soon, is_whole) = place * _STRIDE, trail[place]
    return GAVE_UP, reached


@kernel
def first_row(lines: Lines, heuristic: Heuristic) -> Rows:
    """Return the only row of the first level."""
    now = np.zeros((1, heuristic.width), np.int32)
    settle(lines, now[0, : len(lines.starts) - 1])
    return now


@kernel
def advance(
    lines: Lines, heuristic: Heuristic, now: Rows, soon: Rows
) -> tuple[int, bool, Rows, Rows]:
    """Advance by a level.

    Args:
        lines: The calls.
        heuristic: From `heuristic_of`.
        now: The rows of a level.
        soon: The known rows of the next level.

    Returns:
        The last event by which a call is due in all of `now`; whether a row is through; the rows of
        the next level; and the known rows of the level after it.
    """
    lanes = len(lines.starts) - 1
    puts, child = np.empty(lines.takes, dtype=np.int64), np.empty(heuristic.width, dtype=np.int32)
    found = np.empty((capacity_for(lines), 2), dtype=np.int64)
    one = np.full((_TABLE, heuristic.width), NONE, dtype=np.int32)
    two, in_one, in_two, reached = one.copy(), 0, 0, -1
    for row in soon:
        one, in_one = remember(one, in_one, row)
    for row in now:
        state = row[:lanes]
        if is_through(lines, state):
            return NEVER, True, now, soon
        reached = max(reached, due(lines, state, lines.takes, lanes))
        for choice in range(following(lines, state, puts, found)):
            placed = follow(lines, heuristic, row, found[choice], child)
            if placed == 1:
                one, in_one = remember(one, in_one, child)
            elif placed == 2:
                two, in_two = remember(two, in_two, child)
    return reached, False, _rows(one, in_one), _rows(two, in_two)


@kernel
def _rows(table: Rows, known: int) -> Rows:
    """Return the rows of a table."""
    rows, count = np.empty((known, table.shape[1]), dtype=np.int32), 0
    for place in range(len(table)):
        if table[place, 0] != NONE:
            rows[count] = table[place]
            count += 1
    return rows


@bare_kernel
def follow(lines: Lines, heuristic: Heuristic, row: Rows, choice: Ints, child: Rows) -> int:
    """Make the row after a put and a take.

    Returns:
        How many of the two had to be, 0 if that leads nowhere.
    """
    lanes, kinds = len(lines.starts) - 1, heuristic.kinds
    put, take = next_of(lines, row, choice[0]), next_of(lines, row, choice[1])
    kind, placed = lanes + lines.element[put] % kinds, 0
    for number in range(len(row)):
        child[number] = row[number]
    child[choice[0]] += 1
    child[choice[1]] += 1
    child[kind] += 1
    if lines.complete[put] != NEVER:
        child[kind + kinds] += 1
        placed += 1
    if lines.complete[take] != NEVER:
        child[kind + 2 * kinds] += 1
        placed += 1
    child[-1] += 2 - placed
    if not _is_inside(heuristic.bounds, child[lanes : lanes + kinds]):
        return 0
    return placed if settle(lines, child[:lanes]) else 0


@bare_kernel
def _is_inside(bounds: Bounds, elements: Rows) -> bool:
    place = elements.sum()
    if place >= len(bounds.least):
        return True
    for number in range(len(bounds.sets)):
        count = _of(bounds, number, elements)
        if count < bounds.least[place, number] or count > bounds.most[place, number]:
            return False
    return True


@bare_kernel
def _of(bounds: Bounds, number: int, elements: Rows) -> int:
    """Return how many elements a set of kinds has."""
    one, two = bounds.sets[number]
    return int(elements[one] + (elements[two] if two >= 0 else 0))


@kernel
def best(lines: Lines, heuristic: Heuristic, rows: Rows, keep: int) -> Rows:
    """Return the best rows, all if there are few."""
    if len(rows) <= keep:
        return rows
    cost = np.empty(len(rows), dtype=np.int64)
    lanes = len(lines.starts) - 1
    for place in range(len(rows)):
        cost[place] = _cost(heuristic, rows[place, lanes:])
    best, count, last = np.empty(keep, dtype=np.int64), 0, -1
    for place in np.argsort(cost, kind="mergesort"):
        if cost[place] == last:
            if _ends(lines, heuristic, rows[place]) < _ends(
                lines, heuristic, rows[best[count - 1]]
            ):
                best[count - 1] = place
        elif count == keep:
            break
        else:
            best[count], last = place, cost[place]
            count += 1
    return rows[best[:count]]


@bare_kernel
def _cost(heuristic: Heuristic, numbers: Rows) -> int:
    """Return the cost of a state; its last bits are a hash of the state."""
    kinds, bounds = heuristic.kinds, heuristic.bounds
    place, cost = numbers[:kinds].sum(), _INDETERMINATE * numbers[-1]
    if place < len(bounds.least):
        for number in range(len(bounds.sets)):
            low, high = bounds.least[place, number], bounds.most[place, number]
            away = 2 * _of(bounds, number, numbers) - low - high
            cost += _EDGE * away * away // (high - low + 1) ** 2
    puts, takes = numbers[kinds : 2 * kinds], numbers[2 * kinds : 3 * kinds]
    put, taken = puts.sum(), takes.sum()
    for kind in range(kinds):
        cost += _NEAR * (puts[kind] - heuristic.puts[put, kind]) ** 2
        cost += _NEAR * (takes[kind] - heuristic.takes[taken, kind]) ** 2
    for lookahead in heuristic.lookahead:
        if put + lookahead >= len(heuristic.puts) or taken + lookahead >= len(heuristic.takes):
            break
        for kind in range(kinds):
            to_put = heuristic.puts[put + lookahead, kind] - puts[kind]
            to_take = heuristic.takes[taken + lookahead, kind] - takes[kind]
            cost += _NEAR * (to_put - to_take) ** 2
    mixed = np.uint64(0)
    for number in numbers:
        mixed = mix(mixed, number)
    return int(min(cost, _MOST_COST) << 20) + int(mixed >> np.uint64(44))


@bare_kernel
def _ends(lines: Lines, heuristic: Heuristic, row: Rows) -> int:
    """Return the sum of the completions of what has its place."""
    total = 0
    for line in range(len(lines.starts) - 1):
        start = lines.starts[line]
        total += heuristic.ends[start + row[line]] - heuristic.ends[start]
    return total
