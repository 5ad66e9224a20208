"""The calls open at a return, and later calls whose values only open calls can leave.

Kernels for `checkers.engines.repeated.beam_search.beam_search`, which shows that they are right.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.engines.repeated.layout import NONE, SLOTS, Ints, Layout
from kraftproof.checkers.kernels import bare_kernel

OPEN: Final = 0
INVOKED: Final = 1
NOW: Final = 2

LATER: Final = 16
"""So many calls that are invoked later are looked at at most, for each register."""
_LOOKAHEAD: Final = 2 * SLOTS
"""Number of next returns among which later calls are considered."""


class Window(NamedTuple):
    """The calls open at a return.

    Attributes:
        calls: int64[SLOTS + 1], the open calls that return, by completion.
        first: int64[r], the first finder of each register that has not returned.
        indeterminate: int64[l], the number of invoked indeterminate calls of each kind.
        wanted: int64[r, SLOTS + 1], the open calls that find a value of each register, by value.
        shared: int64[r, SLOTS + 1], the depth of the common ancestor with the value before.
        wants: int64[r], the number of these calls.
        awaited: int64[r, LATER], calls invoked later whose value of each register no later call
            leaves: the value is present, or an open call leaves it.
        awaits: int64[r], the number of these calls.
        at: int64[3], the number of OPEN calls, the number of INVOKED calls, and the event NOW.
    """

    calls: Ints
    first: Ints
    indeterminate: Ints
    wanted: Ints
    shared: Ints
    wants: Ints
    awaited: Ints
    awaits: Ints
    at: Ints


def new_window(layout: Layout) -> Window:
    """Return the window before the first return."""
    return Window(
        calls=np.zeros(SLOTS + 1, dtype=np.int64),
        first=layout.finder_starts[:-1].copy(),
        indeterminate=np.zeros(len(layout.indeterminate), dtype=np.int64),
        wanted=np.zeros((len(layout.initial), SLOTS + 1), dtype=np.int64),
        shared=np.zeros((len(layout.initial), SLOTS + 1), dtype=np.int64),
        wants=np.zeros(len(layout.initial), dtype=np.int64),
        awaited=np.zeros((len(layout.initial), LATER), dtype=np.int64),
        awaits=np.zeros(len(layout.initial), dtype=np.int64),
        at=np.zeros(3, dtype=np.int64),
    )


@bare_kernel
def enter(layout: Layout, window: Window, position: int) -> None:
    """Advance to a return: open the calls invoked before it, and close the returned ones."""
    window.at[NOW] = layout.complete[layout.returning[position]]
    count = 0
    for place in range(window.at[OPEN]):
        if layout.complete[window.calls[place]] >= window.at[NOW]:
            window.calls[count] = window.calls[place]
            count += 1
    call = window.at[INVOKED]
    while call < len(layout.invoke) and layout.invoke[call] < window.at[NOW]:
        if layout.indeterminate_of[call] != NONE:
            window.indeterminate[layout.indeterminate_of[call]] += 1
        else:
            place = count
            while place > 0 and layout.complete[window.calls[place - 1]] > layout.complete[call]:
                window.calls[place] = window.calls[place - 1]
                place -= 1
            window.calls[place] = call
            count += 1
        call += 1
    window.at[OPEN], window.at[INVOKED] = count, call
    for register in range(len(window.first)):
        place = window.first[register]
        end = layout.finder_starts[register + 1]
        while place < end and layout.complete[layout.finders[place]] < window.at[NOW]:
            place += 1
        window.first[register] = place
        _sort_wanted(layout, window, register)
        _lookahead(layout, window, register)


@bare_kernel
def _sort_wanted(layout: Layout, window: Window, register: int) -> None:
    """Sort the open calls that find a value of a register by that value."""
    wanted, shared, count = window.wanted[register], window.shared[register], 0
    for call in window.calls[: window.at[OPEN]]:
        found = layout.find[call, register]
        if found >= 0:
            place = count
            while place > 0 and layout.find[wanted[place - 1], register] > found:
                wanted[place] = wanted[place - 1]
                place -= 1
            wanted[place] = call
            count += 1
    window.wants[register] = count
    for place in range(1, count):
        one = layout.find[wanted[place - 1], register]
        other = layout.find[wanted[place], register]
        while one != NONE and not one <= other <= layout.last[one]:
            one = layout.parent[one]
        shared[place] = 0 if one == NONE else layout.depth[one]


@bare_kernel
def _lookahead(layout: Layout, window: Window, register: int) -> None:
    """Look for calls among the next finders that only open ones can leave a value to."""
    awaited, count = window.awaited[register], 0
    end = min(layout.finder_starts[register + 1], window.first[register] + _LOOKAHEAD)
    for place in range(window.first[register], end):
        call = layout.finders[place]
        hope = layout.hope[call, register]
        if layout.invoke[call] < window.at[NOW] or hope >= window.at[NOW]:
            continue
        found, is_new = layout.find[call, register], True
        for other in awaited[:count]:
            is_new &= layout.find[other, register] != found
        if is_new and count < LATER:
            awaited[count] = call
            count += 1
    window.awaits[register] = count


@bare_kernel
def bit(layout: Layout, call: int) -> int:
    """Return the bit of a returning call."""
    return 1 << layout.slot[call]  # type: ignore[no-any-return]
