"""In which order equal elements were appended to lists, one action a call.

`checkers.engines.lists.repeated` has the proof; `checkers.models.list_order_hints` takes hints for
explanations from the same order.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]

_NONE: Final = -1


class Places(NamedTuple):
    """n calls of one key, each an append or a read, and what its lists are known to hold.

    Attributes:
        invoke: int64[n], ascending.
        complete: int64[n].
        by_completion: int64[n].
        list_number: int64[n].
        first: int64[n], the first append of an append's element.
        length: int64[n], how many elements a read saw; -1 for an append.
        elements: int64[e], the elements of each list's longest read, as such first appends.
        starts: int64[l + 1], where those of each list begin.
    """

    invoke: Ints
    complete: Ints
    by_completion: Ints
    list_number: Ints
    first: Ints
    length: Ints
    elements: Ints
    starts: Ints


@kernel
def appends_up_to(places: Places, cut: int) -> tuple[bool, Ints]:
    """Says whether the calls up to a cut have a legal order, and gives the appends their turns.

    Returns:
        Whether there is an order; int64[n], the appends' places in it, -1 of those left out.
    """
    calls, numbers = places, len(places.starts) - 1
    floors = _floors(calls, cut)
    made, turns = np.zeros(numbers, dtype=np.int64), 0
    turn = np.full(len(calls.invoke), _NONE)
    opened, head = 0, np.full(len(calls.invoke), _NONE)
    following = np.full(len(calls.invoke), _NONE)
    for call in calls.by_completion:
        over, number = calls.complete[call], calls.list_number[call]
        if over > cut:
            break
        while opened < len(calls.invoke) and calls.invoke[opened] < over:
            if calls.length[opened] < 0:
                _open(calls, head, following, opened)
            opened += 1
        start, length = calls.starts[number], calls.starts[number + 1] - calls.starts[number]
        while made[number] < calls.length[call] or (calls.length[call] < 0 and turn[call] < 0):
            if floors[start + number + made[number]] > over:
                return False, turn
            append = call
            if made[number] < length:
                element = calls.elements[start + made[number]]
                append = head[element]
                if append < 0:
                    return False, turn
                head[element] = following[append]
                made[number] += 1
            turn[append] = turns
            turns += 1
    return True, turn


@kernel
def _floors(calls: Places, cut: int) -> Ints:
    """Returns when the last was invoked of the reads up to a cut that saw so much or less.

    Returns:
        int64[e + l]; for each list 0 elements, 1, and so on.
    """
    floors = np.full(len(calls.elements) + len(calls.starts) - 1, -1)
    for call in range(len(calls.invoke)):
        if calls.length[call] >= 0 and calls.complete[call] <= cut:
            number = calls.list_number[call]
            place = calls.starts[number] + number + calls.length[call]
            floors[place] = max(floors[place], calls.invoke[call])
    for number in range(len(calls.starts) - 1):
        start, end = calls.starts[number] + number, calls.starts[number + 1] + number
        for place in range(start + 1, end + 1):
            floors[place] = max(floors[place], floors[place - 1])
    return floors


@kernel
def _open(calls: Places, head: Ints, following: Ints, append: int) -> None:
    """Adds an append to the open ones of its element, which are linked by completion."""
    element, before = calls.first[append], _NONE
    after = head[element]
    while after >= 0 and calls.complete[after] < calls.complete[append]:
        before, after = after, following[after]
    following[append] = after
    if before < 0:
        head[element] = append
    else:
        following[before] = append
