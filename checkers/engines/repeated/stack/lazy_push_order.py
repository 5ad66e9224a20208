"""An order of a stack's calls by a search that puts off in which order puts come that overlap.

The search (`checkers.engines.repeated.stack.search`) goes from completion to completion, and what
completes has its effect by then, others before it only if that is needed (Lowe, "Testing for
linearizability", 2017). A state is a stack and which of the open calls have had their effect. So:

- A put has its effect when it completes; what is taken from below it can also have been put after,
  if the put above was invoked before the other one completed: then it goes below, and has to be
  there by the moment of the other's put, and so has all that stays
  (`checkers.engines.repeated.stack.cells` keeps these bounds). So the order of puts that overlap is
  left open until a take asks for it.
- Other open takes go first if they can have what is on top.
- A take can have what an open put brings, at once; of lost puts nothing else is ever needed.
- A lost take can take what is on top.

It says which take took what was put by which call, and by when that was put at the latest. Takes
have their effect in the order in which it placed them. Puts have theirs as late as they can: of
those that must be in place by one moment, because of one take, what is taken first is put last.
Whether that is legal is seen by doing it (`checkers.engines.repeated.stack.order`).

Time is O(n) times the width and the choices; memory is of the order of n and the stacks kept.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.engines.repeated.stack.cells import BELOW, BOTTOM, CALL, CAP, HI, LO, VALUE
from kraftproof.checkers.engines.repeated.stack.layout import MOST_SLOTS, Calls, Ints
from kraftproof.checkers.engines.repeated.stack.lookahead import ahead_of
from kraftproof.checkers.engines.repeated.stack.search import search
from kraftproof.checkers.engines.repeated.stack.steps import LOG, PAIRED, TOP
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

_STATES_A_SECOND: Final = 2_000_000
"""So many states on any machine; so that what a key may cost is counted, not timed."""
_MOST_KEPT: Final = 1024
_CELL_BYTES: Final = 320
"""What a cell costs while there are two copies of all."""


def lazy_push_order(calls: Calls, last: int, limits: Limits) -> Ints | None:
    """Returns puts and takes in an order that may be legal; None if none was found.

    Args:
        calls: those of one key.
        last: how many completions there are to reach.
        limits: what it may take.
    """
    if calls.opened.shape[1] > MOST_SLOTS:
        return None
    most = int(limits.seconds * _STATES_A_SECOND)
    expected = ahead_of(calls.action, calls.element, calls.invoke, calls.complete, calls.levels)
    most_cells = limits.memory_bytes // _CELL_BYTES
    is_found, cells, row = search(calls, expected, last, _MOST_KEPT, most, most_cells)
    return _order(cells, row) if is_found else None


def _order(cells: Ints, row: Ints) -> Ints:
    """Returns the calls of a state's log, and those that are still inside, in order."""
    moments: list[tuple[tuple[int, int, int], int]] = []
    cell, number = int(row[LOG]), 0
    while cell != BOTTOM:  # from the last take to the first
        take, put, now, latest = (int(cells[cell, at]) for at in (CALL, VALUE, LO, HI))
        moments.append(((now, 0, -2 * number), take))
        key = (now, 0, -2 * number - 1) if latest == PAIRED else (latest, 1, number)
        moments.append((key, put))
        cell, number = int(cells[cell, BELOW]), number + 1
    cell, cap, inside = int(row[TOP]), NEVER, 0
    while cell != BOTTOM:
        cap = min(cap, int(cells[cell, CAP]))
        inside -= 1
        moments.append(((min(cap, int(cells[cell, HI])), 1, inside), int(cells[cell, CALL])))
        cell = int(cells[cell, BELOW])
    return np.asarray([call for _, call in sorted(moments)], dtype=np.int64)
