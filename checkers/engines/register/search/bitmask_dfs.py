"""Depth-first search through the configurations of a register, in machine words.

The first search of every key with few enough open calls
(`checkers.engines.register.search.bitmasks`): it finds a legal order of most valid histories at a
fraction of the cost of `depth_first`, and likewise only answers *valid*. See
`checkers.engines.register.search.bitmask_steps` for successors and their soundness. A failure
proves nothing.

A wrong choice may become visible only many returns later. After a failure the search therefore
restarts from a checkpoint a few returns earlier, then twice as many, and so on, with random
choices.

Memory: the alternatives (the oldest are forgotten), the checkpoints, and a byte for each call of
the longest key.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.bitmask_steps import (
    COLUMNS,
    COUNT,
    DONE,
    PLACE,
    VALUE,
    Steps,
    advance,
    follow,
    new_steps,
)
from kraftproof.checkers.engines.register.search.bitmasks import (
    POSITION,
    READS,
    UPDATES,
    Masks,
    back,
    enter,
    forward,
    lowest,
)
from kraftproof.checkers.engines.register.search.configurations import Key, key_of
from kraftproof.checkers.engines.register.search.depth_first import EXHAUSTED, RUNNING, VALID
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    EXPECTED,
    INVOKED,
    KEPT,
    RANKS,
    Layout,
)
from kraftproof.checkers.engines.register.search.layout import POSITION as RETURNS_AT
from kraftproof.checkers.kernels import bare_kernel

_WAITING: Final = 1 << 10
_SEEN: Final = 1 << 12
_FAR: Final = 24
"""In returns: how far one looks ahead, how far apart and how near are places to start again."""
_APART: Final = 8
_TRAIL: Final = 1 << 9
_NEAREST: Final = 16
_DOUBLINGS: Final = 8
_PATIENCE: Final = 4096
_MOST_IN_VAIN: Final = 24

TOP: Final = 0
SIZE: Final = 1
FURTHEST: Final = 2
VALUE_THERE: Final = 3
RESTARTS: Final = 4
CHANCE: Final = 5
LEFT: Final = 6
FORGOTTEN: Final = 7
IN_VAIN: Final = 8


class Search(NamedTuple):
    """What a search works with, from key to key.

    Attributes:
        steps: the configuration looked at, and what it may become.
        waiting: int64[2^., .], a ring of the alternatives that are left.
        seen: int64[2^.], fingerprints of configurations that were looked at, by their last bits.
        trail: int64[2^., .], the last configurations looked at, at each position that is a multiple
            of some number.
        at: int64[9], TOP of the ring, its SIZE, the FURTHEST position reached and the VALUE_THERE;
            how many RESTARTS there were, the state of the generator of chance, 0 for none, the
            work LEFT until the next, how many alternatives were FORGOTTEN, and how many restarts
            in a row were IN_VAIN.
    """

    steps: Steps
    waiting: NDArray[np.int64]
    seen: NDArray[np.int64]
    trail: NDArray[np.int64]
    at: NDArray[np.int64]


def new_search(layout: Layout, keys: NDArray[np.int64]) -> Search:
    """Return a search that has capacity for some keys of a layout."""
    calls = int(layout.counts[keys, KEPT].max(initial=0))
    values = int(np.diff(layout.value_starts)[keys].max(initial=0))
    return Search(
        steps=new_steps(calls, values),
        waiting=np.zeros((_WAITING, COLUMNS), np.int64),
        seen=np.zeros(_SEEN, np.int64),
        trail=np.zeros((_TRAIL, COLUMNS), np.int64),
        at=np.zeros(9, np.int64),
    )


@bare_kernel
def search_keys(
    layout: Layout,
    keys: NDArray[np.int64],
    search: Search,
    work: Integer,
    is_resumed: bool,  # noqa: FBT001 a kernel takes no keywords
    found: NDArray[np.int64],
) -> None:
    """Search the keys in turn.

    Args:
        layout: The calls.
        keys: int64[m], the numbers of keys whose calls have enough slots.
        search: The workspace.
        work: The approximate work for a key; if negative, for each return, and the search of a key
            without progress ends early.
        is_resumed: Whether to continue the search; then m is 1.
        found: int64[m, 3], set to VALID, EXHAUSTED or RUNNING, the furthest position reached, and
            a value there.
    """
    for j in range(len(keys)):
        key = key_of(layout, keys[j], 0, False)  # noqa: FBT003
        found[j, 0] = VALID
        if key.returns > 0:
            if not is_resumed:
                enter(key, layout.counts[keys[j], RANKS], search.steps.masks)
                _start(search)
            budget, vain = work, work
            if work < 0:
                budget, vain = -work * (key.returns + 64), np.int64(_MOST_IN_VAIN)
            found[j, 0] = _run(key, search, keys[j], budget, vain)
            found[j, 1], found[j, 2] = search.at[FURTHEST], search.at[VALUE_THERE]


@bare_kernel
def _start(search: Search) -> None:
    """Set a search to the first configuration."""
    row = search.steps.row
    row[:] = 0
    row[DONE] = search.steps.masks.sets[READS, 0]
    search.at[:] = 0
    search.at[FURTHEST], search.at[LEFT] = -1, _PATIENCE
    _wait(search, row)


@bare_kernel
def _run(key: Key, search: Search, number: Integer, work: Integer, vain: Integer) -> Integer:
    """Continue until a decision, the end of the work, or too many restarts."""
    at, steps, row = search.at, search.steps, search.steps.row
    while work > 0 and at[IN_VAIN] < vain:
        if (at[SIZE] == 0 or at[LEFT] <= 0) and not _start_again(search):
            return EXHAUSTED
        _take(key, search)
        while True:
            _note(search)
            slot = steps.masks.slots[key.returning[row[PLACE], CALL]]
            if not row[DONE] >> slot & 1:
                if _is_seen(search, row, number):
                    break
                follow(key, steps)
                work -= 1 + steps.at[COUNT]
                at[LEFT] -= 1 + steps.at[COUNT]
                if steps.at[COUNT] == 0:
                    break
                _choose(key, search)
                if work <= 0:
                    _wait(search, row)
                    break
            if row[PLACE] + 1 == key.returns:
                return VALID
            advance(key, steps, forward(key, steps.masks))
    return RUNNING


@bare_kernel
def _take(key: Key, search: Search) -> None:
    """Take the last alternative that waits."""
    at, row, masks = search.at, search.steps.row, search.steps.masks
    _copy(search.waiting[at[TOP]], row)
    at[SIZE] -= 1
    at[TOP] = (at[TOP] - 1) & (_WAITING - 1)
    while masks.at[POSITION] > row[PLACE]:
        back(key, masks)
    while masks.at[POSITION] < row[PLACE]:
        forward(key, masks)


@bare_kernel
def _note(search: Search) -> None:
    """Write down where the search is."""
    at, row = search.at, search.steps.row
    if row[PLACE] > at[FURTHEST]:
        at[FURTHEST], at[VALUE_THERE] = row[PLACE], row[VALUE]
        at[LEFT], at[CHANCE], at[IN_VAIN] = _PATIENCE, 0, 0
    if row[PLACE] % _APART == 0:
        _copy(row, search.trail[(row[PLACE] // _APART) & (_TRAIL - 1)])


@bare_kernel
def _start_again(search: Search) -> bool:
    """Go back to an earlier configuration; returns False if all of them were looked at."""
    at = search.at
    if at[SIZE] == 0 and at[RESTARTS] == 0 and at[FORGOTTEN] == 0:
        return False
    before = _NEAREST << (at[RESTARTS] % _DOUBLINGS)
    place = max(at[FURTHEST] - before, 0) // _APART
    at[RESTARTS] += 1
    at[IN_VAIN] += 1
    at[CHANCE], at[LEFT], at[SIZE] = at[RESTARTS], _PATIENCE + 4 * before, 0
    _wait(search, search.trail[place & (_TRAIL - 1)])
    return True


@bare_kernel
def _copy(source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
    for column in range(COLUMNS):
        target[column] = source[column]


@bare_kernel
def _wait(search: Search, row: NDArray[np.int64]) -> None:
    """Put a configuration on the ring; the oldest makes capacity if it is full."""
    at = search.at
    at[TOP] = (at[TOP] + 1) & (_WAITING - 1)
    at[FORGOTTEN] += at[SIZE] == _WAITING
    at[SIZE] = min(at[SIZE] + 1, _WAITING)
    _copy(row, search.waiting[at[TOP]])


@bare_kernel
def _is_seen(search: Search, row: NDArray[np.int64], number: Integer) -> bool:
    """Return whether a configuration is known to have been looked at, and remembers it."""
    found = np.int64(number) + (np.int64(search.at[RESTARTS]) << 32)
    for column in range(COLUMNS):
        found = found * np.int64(-7046029254386353131) + row[column]
        found ^= found >> 29
    found |= 1
    slot = found & (_SEEN - 1)
    if search.seen[slot] == found:
        return True
    search.seen[slot] = found
    return False


@bare_kernel
def _choose(key: Key, search: Search) -> None:
    """Go on with what follows whose value is asked for soonest; the others wait."""
    steps = search.steps
    count, best = steps.at[COUNT], 0
    if count > 1:
        soonest = key.returns + 1
        for place in range(count):
            wants = _next_want(key, steps.masks, steps.rows[place])
            if wants < soonest:
                best, soonest = place, wants
        if search.at[CHANCE] > 0:
            drawn = (search.at[CHANCE] * 1103515245 + 12345) & 0x7FFFFFFF
            search.at[CHANCE] = drawn | 1
            if (drawn >> 16) % 8 == 0:
                best = (drawn >> 20) % count
        for place in range(count - 1, -1, -1):
            if place != best:
                _wait(search, steps.rows[place])
    _copy(steps.rows[best], steps.row)


@bare_kernel
def _next_want(key: Key, masks: Masks, row: NDArray[np.int64]) -> Integer:
    """Return the position at which a call that needs a row's value returns, within a horizon.

    Such a call is an open update without a place, or a call invoked later.
    """
    position, value = masks.at[POSITION], row[VALUE]
    soonest: Integer = min(key.returns, position + _FAR)
    left = masks.sets[UPDATES, value] & ~row[DONE]
    while left:
        soonest = min(soonest, key.calls[masks.calls[lowest(left)], RETURNS_AT])
        left &= left - 1
    invoked = key.returning[position, INVOKED]
    later: Integer
    for later in range(position + 1, soonest):
        call = key.returning[later, CALL]
        if call >= invoked and key.calls[call, EXPECTED] == value:
            return later
    return soonest
