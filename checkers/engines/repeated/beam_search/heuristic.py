"""The cost of a configuration of the beam search, and when a configuration covers another.

Kernels for `checkers.engines.repeated.beam_search.beam_search`.
"""

from typing import Final

from kraftproof.checkers.engines.repeated.beam_search.steps import DONE, STATE, USED
from kraftproof.checkers.engines.repeated.beam_search.window import NOW, OPEN, Window, bit
from kraftproof.checkers.engines.repeated.layout import NONE, NOTHING, Ints, Layout
from kraftproof.checkers.kernels import bare_kernel

DOOMED: Final = -(1 << 40)
COST: Final = 5
"""The cost of a used call that can't be used again, for each place in the order of returns."""
WANT: Final = 10
"""The cost of a missing value that an open call finds."""


@bare_kernel
def covers(window: Window, row: Ints, other: Ints, loose: int) -> bool:
    """Return whether a configuration can do whatever another can.

    If `loose` is 1, it suffices to have used no more indeterminate calls in total: they stay
    available for ever, so that configurations with different kinds would be kept for ever.
    """
    if other[DONE] & ~row[DONE] != 0 or row[USED] & ~other[USED] != 0:
        return False
    registers = len(window.first)
    for register in range(STATE, STATE + registers):
        if row[register] != other[register] and other[register] != NOTHING:
            return False
    more = 0
    for indeterminate in range(STATE + registers, len(row)):
        if row[indeterminate] > other[indeterminate] and loose == 0:
            return False
        more += row[indeterminate] - other[indeterminate]
    return bool(more <= 0)


@bare_kernel
def heuristic(layout: Layout, window: Window, row: Ints, waiting_costs: Ints, horizon: int) -> int:
    """Return the rating of a configuration, DOOMED if a call can no longer find its value.

    The call may be one that is invoked later, if only an open call can leave its value. A
    configuration is the better, the fewer calls it has used, above all calls that return late, and
    the fewer values the open calls still need.

    Args:
        layout: The calls.
        window: The open calls.
        row: The configuration.
        waiting_costs: The cost of an unfinished call, by the number of registers that it finds.
        horizon: The last event by which calls have to return.
    """
    found = 0
    for place in range(window.at[OPEN]):
        call = window.calls[place]
        mark = bit(layout, call)
        if row[USED] & mark != 0:
            found -= COST + place
        if row[DONE] & mark == 0:
            found -= waiting_costs[layout.finds[call]]
            if layout.complete[call] <= horizon and not _may_be(layout, window, row, call):
                return DOOMED
    for register in range(len(window.first)):
        for call in window.awaited[register, : window.awaits[register]]:
            is_required = layout.complete[call] <= horizon
            if is_required and not _may_be_found(layout, window, row, call, register):
                return DOOMED
    for indeterminate in range(STATE + len(window.first), len(row)):
        found -= COST * row[indeterminate]
    return found - WANT * _missing(layout, window, row)


@bare_kernel
def _missing(layout: Layout, window: Window, row: Ints) -> int:
    """Return the number of values that open calls need, if each value comes once.

    The number is the size of the tree of these values, without the present value and its ancestors
    for calls that continue from it. `apart` and `lookahead` are the parts of a value counted
    already, for other calls and for such calls.
    """
    total = 0
    for register in range(len(window.first)):
        held = row[STATE + register]
        is_held = held != NOTHING
        last, depth_held = (layout.last[held], layout.depth[held]) if is_held else (NOTHING, 0)
        apart = lookahead = 0
        for number in range(window.wants[register]):
            call, shared = window.wanted[register, number], window.shared[register, number]
            apart, lookahead = min(apart, shared), min(lookahead, shared)
            if row[DONE] & bit(layout, call) != 0:
                continue
            found = layout.find[call, register]
            depth = layout.depth[found]
            if is_held and held <= found <= last:
                total += depth - max(lookahead, depth_held)
                lookahead = depth
            else:
                total += depth - apart
                apart = depth
    return int(total)


@bare_kernel
def _may_be(layout: Layout, window: Window, row: Ints, call: int) -> bool:
    """Return whether all that a call has to find may be found."""
    for register in range(layout.find.shape[1]):
        if not _may_be_found(layout, window, row, call, register):
            return False
    return True


@bare_kernel
def _may_be_found(layout: Layout, window: Window, row: Ints, call: int, register: int) -> bool:
    """Return whether a call's value is present, may come, or grows from a present value."""
    wanted, held = layout.find[call, register], row[STATE + register]
    if wanted == NONE or layout.hope[call, register] >= window.at[NOW]:
        return True
    if held != NOTHING and held <= wanted <= layout.last[held]:
        return True
    for other in window.calls[: window.at[OPEN]]:
        if row[USED] & bit(layout, other) == 0 and _leads(layout, other, register, wanted):
            return True
    for indeterminate in range(len(window.indeterminate)):
        is_left = (
            row[STATE + len(window.first) + indeterminate] < window.indeterminate[indeterminate]
        )
        if is_left and _leads(layout, layout.indeterminate[indeterminate], register, wanted):
            return True
    return False


@bare_kernel
def _leads(layout: Layout, call: int, register: int, wanted: int) -> bool:
    """Return whether a call leaves a value that is wanted, or leads to it."""
    left = layout.leave[call, register]
    return bool(left >= 0 and left <= wanted <= layout.last[left])
