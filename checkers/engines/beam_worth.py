"""How good a configuration of the search by returns looks, and when another one is as good.

Kernels for `checkers.engines.beam`.
"""

from typing import Final

from checkers.engines.beam_layout import NONE, NOTHING, Ints, Layout
from checkers.engines.beam_steps import DONE, NOW, OPEN, STATE, USED, Window, bit
from checkers.kernels import bare_kernel

DOOMED: Final = -(1 << 40)
COST: Final = 5
"""What a call costs that is used, and can't be any more: so much more the later it returns."""


@bare_kernel
def covers(window: Window, row: Ints, other: Ints) -> bool:
    """Says whether a configuration can do whatever another can."""
    if other[DONE] & ~row[DONE] != 0 or row[USED] & ~other[USED] != 0:
        return False
    registers = len(window.first)
    for register in range(STATE, STATE + registers):
        if row[register] != other[register] and other[register] != NOTHING:
            return False
    is_covered = True
    for lost in range(STATE + registers, len(row)):
        is_covered &= row[lost] <= other[lost]
    return is_covered


@bare_kernel
def promise(layout: Layout, window: Window, row: Ints, horizon: int) -> int:
    """Returns how good a configuration looks, DOOMED if a call can't find any more what it has to.

    The fewer calls it has used the more it can still do, and those that return late most.

    Args:
        layout: the calls.
        window: what is open.
        row: the configuration.
        horizon: the last event by which calls have to return.
    """
    found = 0
    for place in range(window.at[OPEN]):
        call = window.calls[place]
        mark = bit(layout, call)
        if row[USED] & mark != 0:
            found -= COST + place
        if row[DONE] & mark == 0 and layout.complete[call] <= horizon:
            for register in range(layout.find.shape[1]):
                if not _may_be_found(layout, window, row, call, register):
                    return DOOMED
    for lost in range(STATE + len(window.first), len(row)):
        found -= COST * row[lost]
    return found


@bare_kernel
def _may_be_found(layout: Layout, window: Window, row: Ints, call: int, register: int) -> bool:
    """Says whether what an open call has to find is there, or there is what may lead to it."""
    wanted, held = layout.find[call, register], row[STATE + register]
    if wanted == NONE or layout.hope[call, register] >= window.at[NOW]:
        return True
    if held != NOTHING and held <= wanted <= layout.last[held]:
        return True
    for other in window.calls[: window.at[OPEN]]:
        if row[USED] & bit(layout, other) == 0 and _leads(layout, other, register, wanted):
            return True
    for lost in range(len(window.lost)):
        is_left = row[STATE + len(window.first) + lost] < window.lost[lost]
        if is_left and _leads(layout, layout.lost[lost], register, wanted):
            return True
    return False


@bare_kernel
def _leads(layout: Layout, call: int, register: int, wanted: int) -> bool:
    """Says whether a call leaves a value that is wanted, or leads to it."""
    left = layout.leave[call, register]
    return bool(left >= 0 and left <= wanted <= layout.last[left])
