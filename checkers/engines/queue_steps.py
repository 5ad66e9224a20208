"""One step of the search for an order of a queue's elements, which may be equal.

Kernels for `checkers.engines.queue_repeated`, which says what a step is and why there is one choice
a value at most. Calls are laid in *lines*, in each of which one goes before the next for sure: so a
state, int32[k], is how many calls of each line have their place.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from checkers.columns import NEVER
from checkers.engines.queue_lines import Ints, Lines
from checkers.kernels import kernel

State = NDArray[np.int32]

NOBODY: Final = -1


@kernel
def next_of(lines: Lines, state: State, line: int) -> int:
    """Returns the first call of a line that has no place yet, NOBODY if there is none."""
    call = lines.starts[line] + state[line]
    return int(call) if call < lines.starts[line + 1] else NOBODY


@kernel
def due(lines: Lines, state: State, first: int, last: int) -> int:
    """Returns the first completion of what has no place yet in some lines."""
    found = NEVER
    for line in range(first, last):
        call = next_of(lines, state, line)
        if call != NOBODY:
            found = min(found, lines.complete[call])
    return found


@kernel
def latest(lines: Lines, state: State, first: int, last: int) -> int:
    """Returns the last invocation of what has its place in some lines; -1 if nothing has."""
    found = -1
    for line in range(first, last):
        if state[line] > 0:
            found = max(found, lines.invoke[lines.starts[line] + state[line] - 1])
    return found


@kernel
def settle(lines: Lines, state: State) -> bool:
    """Places those that found none where that is legal now; says whether the others may follow."""
    last = len(state)
    done = latest(lines, state, 0, lines.nones)
    left = due(lines, state, 0, lines.nones)
    is_more = done < left
    while is_more:
        is_more = False
        before = min(left, due(lines, state, lines.nones, last))
        for line in range(lines.nones, last):
            call = next_of(lines, state, line)
            if call != NOBODY and lines.invoke[call] < before and lines.complete[call] > done:
                state[line] += 1
                is_more = True
    return due(lines, state, lines.nones, last) > done


@kernel
def is_through(lines: Lines, state: State) -> bool:
    """Says whether all that has to be taken is, and all that found none has its place."""
    return due(lines, state, lines.takes, len(state)) == NEVER


@kernel
def following(lines: Lines, state: State, found: Ints) -> int:
    """Finds what may come next.

    Args:
        lines: the calls.
        state: what has its place.
        found: int64[p, 3], with room for as many as `room_for` says; filled with the line of each
            one's put, that of its take, and the last place that both may have, first ones last.

    Returns:
        How many there are.
    """
    puts_due = due(lines, state, 0, lines.takes)
    takes_due = due(lines, state, lines.takes, lines.nones)
    nones_due = due(lines, state, lines.nones, len(state))
    before, count = min(takes_due, nones_due), 0
    for line in range(lines.takes):
        put = next_of(lines, state, line)
        if put == NOBODY or lines.invoke[put] >= min(puts_due, before):
            continue
        if not _is_first_put(lines, state, line, min(puts_due, before)):
            continue
        harmless = puts_due if nones_due != NEVER else NEVER
        for other in range(lines.takes, lines.nones):
            take = next_of(lines, state, other)
            if not _may_take(lines, take, put, before):
                continue
            is_needed = min(lines.complete[put], lines.complete[take]) != NEVER
            if is_needed and _is_first_take(lines, state, put, other, before, harmless):
                _insert(found, count, line, other, min(lines.turn[put], lines.turn[take]))
                count += 1
    return count


@kernel
def room_for(lines: Lines) -> int:
    """Returns how many may come next at most."""
    return lines.takes * (lines.nones - lines.takes)


@kernel
def _is_first_put(lines: Lines, state: State, line: int, before: int) -> bool:
    """Says whether no other put of the value that may come next completes before one does."""
    put = next_of(lines, state, line)
    for other in range(lines.takes):
        rival = next_of(lines, state, other)
        if other == line or rival == NOBODY or lines.element[rival] != lines.element[put]:
            continue
        if lines.invoke[rival] < before and lines.complete[rival] < lines.complete[put]:
            return False
    return True


@kernel
def _may_take(lines: Lines, take: int, put: int, before: int) -> bool:
    if take == NOBODY or lines.invoke[take] >= before:
        return False
    return bool(lines.element[take] < 0 or lines.element[take] == lines.element[put])


@kernel
def _is_first_take(
    lines: Lines, state: State, put: int, line: int, before: int, harmless: int
) -> bool:
    """Says whether no other take is as good for what was put as one.

    Another is if it completes before, and was invoked before, or before that can matter. Of those
    that need not have happened, one that is known to take the value is better than any.
    """
    take = next_of(lines, state, line)
    for other in range(lines.takes, lines.nones):
        rival = next_of(lines, state, other)
        if other == line or not _may_take(lines, rival, put, before):
            continue
        if lines.invoke[rival] >= max(lines.invoke[take], harmless):
            continue
        is_told = lines.element[rival] >= 0 and lines.element[take] < 0
        is_sooner = lines.complete[rival] < lines.complete[take]
        if is_sooner or (is_told and lines.complete[rival] == lines.complete[take]):
            return False
    return True


@kernel
def _insert(found: Ints, count: int, put_line: int, take_line: int, turn: int) -> None:
    """Puts one more among those found, which are in the order of urgency, first ones last."""
    at = count
    while at > 0 and found[at - 1, 2] < turn:
        found[at] = found[at - 1]
        at -= 1
    found[at, 0], found[at, 1], found[at, 2] = put_line, take_line, turn


@kernel
def lost(lines: Lines, choice: Ints, state: State) -> int:
    """Says how many of the two calls of a choice need not have happened: 0 or 1."""
    put, take = next_of(lines, state, choice[0]), next_of(lines, state, choice[1])
    return int(max(lines.complete[put], lines.complete[take]) == NEVER)
