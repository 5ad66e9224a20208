"""One step of the search for an order of a queue with repeated elements.

Kernels for `checkers.engines.repeated.queue.queue`, which defines a step and shows that each value
has at most one candidate. Calls are laid out in *lines* of calls in real-time order: a state,
int32[k], is the number of placed calls of each line.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.repeated.queue.layout import Ints, Lines
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel

State = NDArray[np.int32]

NOBODY: Final = -1


@bare_kernel
def next_of(lines: Lines, state: State, line: int) -> int:
    """Return the first call of a line that has no place yet, NOBODY otherwise."""
    call = lines.starts[line] + state[line]
    return int(call) if call < lines.starts[line + 1] else NOBODY


@bare_kernel
def due(lines: Lines, state: State, first: int, last: int) -> int:
    """Return the first completion of what has no place yet in some lines."""
    found = NEVER
    for line in range(first, last):
        call = next_of(lines, state, line)
        if call != NOBODY:
            found = min(found, lines.complete[call])
    return found


@bare_kernel
def latest(lines: Lines, state: State, first: int, last: int) -> int:
    """Return the last invocation of the placed calls of some lines; -1 otherwise."""
    found = -1
    for line in range(first, last):
        if state[line] > 0:
            found = max(found, lines.invoke[lines.starts[line] + state[line] - 1])
    return found


@bare_kernel
def settle(lines: Lines, state: State) -> bool:
    """Place empty takes where that is legal now; return whether the others may follow."""
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


@bare_kernel
def is_through(lines: Lines, state: State) -> bool:
    """Return whether all required takes and all empty takes are placed."""
    return due(lines, state, lines.takes, len(state)) == NEVER


@bare_kernel
def following(lines: Lines, state: State, puts: Ints, found: Ints) -> int:
    """Find the candidates for the next position.

    Args:
        lines: The calls.
        state: The placed calls.
        puts: int64[k], scratch space.
        found: int64[p, 2], with capacity for `capacity_for` candidates; the lines of each put and
            take.

    Returns:
        The number of candidates.
    """
    puts_due = due(lines, state, 0, lines.takes)
    takes_due = due(lines, state, lines.takes, lines.nones)
    nones_due = due(lines, state, lines.nones, len(state))
    before = min(takes_due, nones_due)
    harmless = puts_due if nones_due != NEVER else NEVER
    count = 0
    for number in range(_first_puts(lines, state, min(puts_due, before), puts)):
        put = next_of(lines, state, puts[number])
        for other in range(lines.takes, lines.nones):
            take = next_of(lines, state, other)
            if not _may_take(lines, take, put, before):
                continue
            is_needed = min(lines.complete[put], lines.complete[take]) != NEVER
            if is_needed and _is_first_take(lines, state, put, other, before, harmless):
                found[count, 0], found[count, 1] = puts[number], other
                count += 1
    return count


@bare_kernel
def capacity_for(lines: Lines) -> int:
    """Return how many may come next at most."""
    return lines.takes * max(1, lines.nones - lines.takes)


@bare_kernel
def _first_puts(lines: Lines, state: State, before: int, puts: Ints) -> int:
    """Find, for each value, the candidate put that completes first.

    Fills in the lines; returns the count.
    """
    count = 0
    for line in range(lines.takes):
        put = next_of(lines, state, line)
        if put == NOBODY or lines.invoke[put] >= before:
            continue
        place, rival = 0, put
        while place < count:
            rival = next_of(lines, state, puts[place])
            if lines.element[rival] == lines.element[put]:
                break
            place += 1
        if place == count:
            puts[count] = line
            count += 1
        elif lines.complete[put] < lines.complete[rival]:
            puts[place] = line
    return count


@bare_kernel
def _may_take(lines: Lines, take: int, put: int, before: int) -> bool:
    if take == NOBODY or lines.invoke[take] >= before:
        return False
    return bool(lines.element[take] < 0 or lines.element[take] == lines.element[put])


@bare_kernel
def _is_first_take(
    lines: Lines, state: State, put: int, line: int, before: int, harmless: int
) -> bool:
    """Return whether no other take is as good for a put.

    Another take is as good if it completes earlier and was invoked earlier, or early enough. Of
    optional takes, one that is known to take the value is the best.
    """
    take = next_of(lines, state, line)
    for other in range(lines.takes, lines.nones):
        rival = next_of(lines, state, other)
        if other == line or not _may_take(lines, rival, put, before):
            continue
        if lines.invoke[rival] >= max(lines.invoke[take], harmless):
            continue
        is_observed = lines.element[rival] >= 0 and lines.element[take] < 0
        is_sooner = lines.complete[rival] < lines.complete[take]
        if is_sooner or (is_observed and lines.complete[rival] == lines.complete[take]):
            return False
    return True
