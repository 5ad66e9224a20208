"""How good a configuration of the search by returns looks, and when another one is as good.

Kernels for `checkers.engines.repeated.beam_search.beam_search`.
"""

from typing import Final

from kraftproof.checkers.engines.repeated.beam_search.steps import DONE, STATE, USED
from kraftproof.checkers.engines.repeated.beam_search.window import NOW, OPEN, Window, bit
from kraftproof.checkers.engines.repeated.layout import NONE, NOTHING, Ints, Layout
from kraftproof.checkers.kernels import bare_kernel

DOOMED: Final = -(1 << 40)
COST: Final = 5
"""What a call costs that is used, and can't be any more: so much more the later it returns."""
WANT: Final = 10
"""What a value costs that an open call finds and that has to come yet."""


@bare_kernel
def covers(window: Window, row: Ints, other: Ints, loose: int) -> bool:
    """Says whether a configuration can do whatever another can.

    If it is told loosely (1), it is enough to have used no more indeterminate calls in all: those
    are never gone, so that what differs in the kinds of them only would be kept for ever.
    """
    if other[DONE] & ~row[DONE] != 0 or row[USED] & ~other[USED] != 0:
        return False
    registers = len(window.first)
    for register in range(STATE, STATE + registers):
        if row[register] != other[register] and other[register] != NOTHING:
            return False
    more = 0
    for lost in range(STATE + registers, len(row)):
        if row[lost] > other[lost] and loose == 0:
            return False
        more += row[lost] - other[lost]
    return bool(more <= 0)


@bare_kernel
def promise(layout: Layout, window: Window, row: Ints, taste: Ints, horizon: int) -> int:
    """Returns how good a configuration looks, DOOMED if a call can't find any more what it has to.

    That may be a call which is invoked later, where only an open one can leave what it finds.

    The fewer calls it has used the more it can still do, and those that return late most; and the
    less has to come for the calls that are open: values, and by taste several at once.

    Args:
        layout: the calls.
        window: what is open.
        row: the configuration.
        taste: what a call costs that is not done, by how many registers it finds.
        horizon: the last event by which calls have to return.
    """
    found = 0
    for place in range(window.at[OPEN]):
        call = window.calls[place]
        mark = bit(layout, call)
        if row[USED] & mark != 0:
            found -= COST + place
        if row[DONE] & mark == 0:
            found -= taste[layout.finds[call]]
            if layout.complete[call] <= horizon and not _may_be(layout, window, row, call):
                return DOOMED
    for register in range(len(window.first)):
        for call in window.awaited[register, : window.awaits[register]]:
            is_required = layout.complete[call] <= horizon
            if is_required and not _may_be_found(layout, window, row, call, register):
                return DOOMED
    for lost in range(STATE + len(window.first), len(row)):
        found -= COST * row[lost]
    return found - WANT * _missing(layout, window, row)


@bare_kernel
def _missing(layout: Layout, window: Window, row: Ints) -> int:
    """Returns how many values have to come for the open calls, if each comes once.

    That is the size of the tree of what they find, without what is there if they go on from it.
    `apart` and `ahead` are how much of a value is counted already, of those that don't and do.
    """
    total = 0
    for register in range(len(window.first)):
        held = row[STATE + register]
        is_held = held != NOTHING
        last, depth_held = (layout.last[held], layout.depth[held]) if is_held else (NOTHING, 0)
        apart = ahead = 0
        for number in range(window.wants[register]):
            call, shared = window.wanted[register, number], window.shared[register, number]
            apart, ahead = min(apart, shared), min(ahead, shared)
            if row[DONE] & bit(layout, call) != 0:
                continue
            found = layout.find[call, register]
            depth = layout.depth[found]
            if is_held and held <= found <= last:
                total += depth - max(ahead, depth_held)
                ahead = depth
            else:
                total += depth - apart
                apart = depth
    return int(total)


@bare_kernel
def _may_be(layout: Layout, window: Window, row: Ints, call: int) -> bool:
    """Says whether all that a call has to find may be found."""
    for register in range(layout.find.shape[1]):
        if not _may_be_found(layout, window, row, call, register):
            return False
    return True


@bare_kernel
def _may_be_found(layout: Layout, window: Window, row: Ints, call: int, register: int) -> bool:
    """Says whether what a call has to find is there or may come, or there is what leads to it."""
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
