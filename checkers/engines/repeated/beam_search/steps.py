"""One step of the search by returns: the configuration after an update.

Kernels for `checkers.engines.repeated.beam_search.beam_search`, which shows that they are right.
"""

from typing import Final

from kraftproof.checkers.engines.repeated.beam_search.window import NOW, OPEN, Window, bit
from kraftproof.checkers.engines.repeated.layout import NONE, NOTHING, Ints, Layout
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import bare_kernel

DONE: Final = 0
USED: Final = 1
STATE: Final = 2
"""A configuration is int64[2 + r + l]: the calls that are done, those that are used, the value of
each register, and how many indeterminate calls of each kind are used."""


@bare_kernel
def is_legal(layout: Layout, row: Ints, call: int) -> bool:
    """Return whether the registers hold what a call finds."""
    for register in range(layout.find.shape[1]):
        found = layout.find[call, register]
        if found != NONE and found != row[STATE + register]:
            return False
    return True


@bare_kernel
def place(layout: Layout, window: Window, row: Ints, call: int) -> None:
    """Apply an update: the calls that it hides are done, and the registers hold its values.

    Calls that become harmless are not done yet.
    """
    for other in window.calls[: window.at[OPEN]]:
        mark = bit(layout, other)
        if row[DONE] & mark == 0 and _is_hidden(layout, row, other, call):
            row[DONE] |= mark
    for register in range(layout.leave.shape[1]):
        if layout.leave[call, register] != NONE:
            row[STATE + register] = layout.leave[call, register]
    if layout.piece[call] != NONE:
        row[STATE] = appended(layout, row[STATE], layout.piece[call])
    if layout.indeterminate_of[call] != NONE:
        row[STATE + len(window.first) + layout.indeterminate_of[call]] += 1
    else:
        row[DONE] |= bit(layout, call)
        row[USED] |= bit(layout, call)


@bare_kernel
def is_needed(
    layout: Layout, window: Window, row: Ints, call: int, returning: int, depth: int
) -> bool:
    """Return whether an update may have to precede the next returning call.

    An update that finds nothing, and whose value nobody finds before the return, can come later or
    be hidden by another update. With values in several registers it may be hidden in part only;
    then the rule is unsound, and it is not applied if no way is left out (`depth` is NEVER).
    """
    lefts = 0
    for register in range(layout.leave.shape[1]):
        if layout.find[call, register] != NONE:
            return True
        lefts += layout.leave[call, register] != NONE
    if call == returning or (depth == NEVER and lefts > 1):
        return True
    for register in range(layout.leave.shape[1]):
        left = layout.leave[call, register]
        if register == 0 and layout.piece[call] != NONE:
            left = appended(layout, row[STATE], layout.piece[call])
        if left >= 0:
            if register == 0 and layout.piece[returning] != NONE:
                return True
            if _is_consumed(layout, window, row, call, register, left):
                return True
    return False


@bare_kernel
def _is_consumed(
    layout: Layout, window: Window, row: Ints, call: int, register: int, left: int
) -> bool:
    """Return whether an open or indeterminate call may find a call's value, or one made from it."""
    for other in window.calls[: window.at[OPEN]]:
        if other != call and left <= layout.find[other, register] <= layout.last[left]:
            mark = bit(layout, other)
            if row[DONE] & mark == 0 or (layout.updates[other] and row[USED] & mark == 0):
                return True
    for indeterminate in range(len(window.indeterminate)):
        found = layout.find[layout.indeterminate[indeterminate], register]
        is_left = (
            row[STATE + len(window.first) + indeterminate] < window.indeterminate[indeterminate]
        )
        if is_left and left <= found <= layout.last[left]:
            return True
    return False


@bare_kernel
def appended(layout: Layout, value: int, piece: int) -> int:
    """Return what a value is after a piece was appended."""
    if value == NOTHING:
        return NOTHING
    for edge in range(layout.edge_starts[value], layout.edge_starts[value + 1]):
        if layout.edge_piece[edge] == piece:
            return int(layout.edge_to[edge])
    return NOTHING


@bare_kernel
def _is_hidden(layout: Layout, row: Ints, call: int, by: int) -> bool:
    """Return whether a call that finds nothing can come just before another, and nobody knows."""
    if not layout.updates[call]:
        return False
    for register in range(layout.leave.shape[1]):
        if layout.find[call, register] != NONE:
            return False
        left = layout.leave[call, register]
        is_changed = left != NONE or (register == 0 and layout.piece[call] != NONE)
        held = row[STATE + register]
        if not is_changed or held == NOTHING or (left != NONE and left == held):
            continue
        if layout.leave[by, register] == NONE or layout.find[by, register] != NONE:
            return False
    return True


@bare_kernel
def settle(layout: Layout, window: Window, row: Ints) -> None:
    """Have all open calls done that are legal now and change nothing that a call still finds."""
    while True:
        is_more = _forget(layout, window, row)
        for call in window.calls[: window.at[OPEN]]:
            mark = bit(layout, call)
            if row[DONE] & mark != 0 or not is_legal(layout, row, call):
                continue
            if _is_harmless(layout, row, call):
                row[DONE] |= mark
                is_more = True
        if not is_more:
            return


@bare_kernel
def _is_harmless(layout: Layout, row: Ints, call: int) -> bool:
    """Return whether a call leaves the present value, or nobody finds the present value."""
    if layout.piece[call] != NONE and row[STATE] != NOTHING:
        return False
    for register in range(layout.leave.shape[1]):
        left, held = layout.leave[call, register], row[STATE + register]
        if left == NONE or held == NOTHING:
            continue
        if left != held:
            return False
    return True


@bare_kernel
def _forget(layout: Layout, window: Window, row: Ints) -> bool:
    """Have registers hold NOTHING whose value nobody can find any more; return whether any did."""
    is_more = False
    for register in range(len(window.first)):
        if row[STATE + register] != NOTHING and not _is_wanted(layout, window, row, register):
            row[STATE + register] = NOTHING
            is_more = True
    return is_more


@bare_kernel
def _is_wanted(layout: Layout, window: Window, row: Ints, register: int) -> bool:
    """Return whether a call may find a register's value, or a value made from it by appending.

    The value is gone by the first return of an unfinished call that finds another value there, so a
    call that finds it was invoked before that return.
    """
    value = row[STATE + register]
    last, gone = layout.last[value], NEVER
    for finder in range(window.first[register], layout.finder_starts[register + 1]):
        if layout.soonest[finder] > gone:
            return False
        call = layout.finders[finder]
        found = layout.find[call, register]
        is_open = layout.indeterminate_of[call] == NONE and layout.invoke[call] < window.at[NOW]
        mark = bit(layout, call) if is_open else 0
        is_done = row[DONE] & mark != 0
        if value <= found <= last:
            may_be = not is_done or (layout.updates[call] and row[USED] & mark == 0)
            if may_be and layout.invoke[call] < gone:
                return True
        elif not is_done:
            gone = min(gone, layout.complete[call])
    return False
