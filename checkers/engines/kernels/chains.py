"""Transactions on registers, laid out in lanes for the kernels that decide them.

For `checkers.engines.transactions.transactions`. A *lane* is a chain of transactions in real-time
order, so that one number a lane gives a set that contains the predecessors of each member. A
*section* is a value of a register, from the write that left it to the last read that found it.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]

NONE: Final = -1


class History(NamedTuple):
    """The n transactions that took effect, and their sections.

    A section that a write began has the write's number, w of them; then follows a section for the
    initial value of each register.

    Attributes:
        invoke: int64[n], ascending.
        complete: int64[n], NEVER for incomplete transactions.
        over: int64[n], an event by which each has surely taken effect.
        lane: int64[n].
        place: int64[n], the number in the lane, from 0.
        passed: int64[n], the number of completions before the invocation.
        done: int64[d], the completed transactions, by completion.
        finds: int64[n + 1]; transaction t found the sections finds[t] to finds[t + 1] of `found`.
        found: int64[r], sections.
        leaves: int64[n + 1]; transaction t began the sections leaves[t] to leaves[t + 1].
        left_in: int64[w], the register of each write.
        writer: int64[w].
        readers_of: int64[w + registers + 1]; the readers of section s are readers_of[s] to
            readers_of[s + 1] of `readers`.
        readers: int64[r].
        lanes: The number of lanes.
        registers: The number of registers.
        in_lane: int64[registers * lanes + 1]; the writes of register x by lane l start at
            in_lane[x * lanes + l] in `by_lane`, in order.
        by_lane: int64[w].
    """

    invoke: Ints
    complete: Ints
    over: Ints
    lane: Ints
    place: Ints
    passed: Ints
    done: Ints
    finds: Ints
    found: Ints
    leaves: Ints
    left_in: Ints
    writer: Ints
    readers_of: Ints
    readers: Ints
    lanes: int
    registers: int
    in_lane: Ints
    by_lane: Ints


@kernel
def chains_of(invoke: Ints, over: Ints, most: int) -> tuple[Ints, Ints, int]:
    """Return the lane of each transaction, its place there, and the number of lanes.

    Args:
        invoke: int64[n], ascending.
        over: int64[n], the events after which every invocation follows the transaction.
        most: The maximum number of lanes; beyond it, the search stops.
    """
    lane, place = np.empty(len(invoke), dtype=np.int64), np.empty(len(invoke), dtype=np.int64)
    free_from = [0 for _ in range(0)]
    lengths = [0 for _ in range(0)]
    for number in range(len(invoke)):
        chosen = len(free_from)
        for candidate in range(len(free_from)):
            if free_from[candidate] < invoke[number]:
                chosen = candidate
                break
        if chosen == len(free_from):
            free_from.append(0)
            lengths.append(0)
            if chosen == most:
                break
        lane[number], place[number] = chosen, lengths[chosen]
        free_from[chosen] = over[number]
        lengths[chosen] += 1
    return lane, place, len(free_from)
