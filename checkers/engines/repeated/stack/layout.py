"""The calls of one stack, laid out for the kernels that look for an order of them.

For `checkers.engines.repeated.stack.graph` and `checkers.engines.repeated.stack.beam`. An
indeterminate call
is of the *kind* of what it puts, or a take whose answer nobody knows: calls of one kind can stand
for each other, the first to be invoked first.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import PUT, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.chains import chains_of
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]

MOST_SLOTS: Final = 62
"""So many calls may be open at a time: a bit each, and one more for a mark."""


class Calls(NamedTuple):
    """The calls of a key, n of them, by invocation; m of them completed.

    Attributes:
        action: int8[n].
        element: int64[n].
        invoke: int64[n].
        complete: int64[n].
        levels: int64[m], the completed calls, by completion.
        slot: int64[n], numbers that differ for calls open at the same time, of those that complete.
        opened: int32[m, s], by slot, the calls open when each completes; -1 if none.
        indeterminate: int64[l], the calls that did not complete, by kind: the puts by element, then
            takes.
        indeterminate_from: int64[k + 1], where those of each kind begin.
        arrivals: int64[l], the calls that did not complete, by invocation.
        kinds: int64[l], of which kind each of these is.
    """

    action: NDArray[np.int8]
    element: Ints
    invoke: Ints
    complete: Ints
    levels: Ints
    slot: Ints
    opened: NDArray[np.int32]
    indeterminate: Ints
    indeterminate_from: Ints
    arrivals: Ints
    kinds: Ints


def calls_of(calls: ContainerCalls, start: int, end: int) -> Calls:
    """Return the calls of a key, laid out."""
    action, element = calls.action[start:end], calls.element[start:end]
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]
    (sure,) = np.nonzero(complete != NEVER)
    slot, lanes = np.full(len(action), -1), 0
    slot[sure], _, lanes = chains_of(invoke[sure], complete[sure], len(sure) + 1)
    levels = sure[np.argsort(complete[sure])]
    takes = int(element.max(initial=NO_VALUE)) + 1
    (indeterminate,) = np.nonzero(complete == NEVER)
    kind = np.where(action[indeterminate] == PUT, element[indeterminate], takes)
    order = np.argsort(kind, kind="stable")
    return Calls(
        action=action,
        element=element,
        invoke=invoke,
        complete=complete,
        levels=levels,
        slot=slot,
        opened=_opened(invoke, complete, slot, levels, lanes),
        indeterminate=indeterminate[order],
        indeterminate_from=np.searchsorted(kind[order], np.arange(takes + 2)),
        arrivals=indeterminate,
        kinds=kind,
    )


def has_indeterminate(calls: Calls) -> bool:
    """Return whether calls are indeterminate."""
    return len(calls.indeterminate) > 0


@kernel
def _opened(
    invoke: Ints, complete: Ints, slot: Ints, levels: Ints, slots: int
) -> NDArray[np.int32]:
    """Return which calls are open at each completion: int32[m, slots], -1 for none."""
    found = np.full((len(levels), slots), -1, dtype=np.int32)
    opened, call = np.full(slots, -1, dtype=np.int32), 0
    for level in range(len(levels)):
        it = levels[level]
        while call < len(invoke) and invoke[call] < complete[it]:
            if slot[call] >= 0:
                opened[slot[call]] = call
            call += 1
        found[level] = opened
        opened[slot[it]] = -1
    return found
