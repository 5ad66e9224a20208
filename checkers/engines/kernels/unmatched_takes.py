"""Takes with unknown answers: the elements that they can or must have taken.

Such an *unmatched* take may have taken any single element after its invocation, or nothing. An
element without a known completed take has a *deadline*: the first completion that is impossible
while the element is still there (each container has its own reason; an empty take is a reason for
all). The element *needs* an unmatched take if its own open take, if any, was invoked later.

- Necessary: elements in need can be matched with unmatched takes invoked before their deadlines. By
  Hall's theorem this holds if and only if k unmatched takes precede the k-th earliest deadline.
- Sufficient: the intervals fit in which the k-th unmatched take takes the k-th element in need.
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import TAKE
from kraftproof.checkers.engines.kernels.element_intervals import Times
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel


@kernel
def spares_before(action: NDArray[np.int8], element: Times, invoke: Times, cut: int) -> Times:
    """Return when the spare takes up to a cut were invoked, ascending."""
    found: Times = invoke[(action == TAKE) & (element < 0) & (invoke < cut)]
    return found


@kernel
def spared(life: Times, spares: Times) -> Times:
    """Return lives in which spares may have taken any number of elements."""
    kinder = life.copy()
    if len(spares) > 0:
        for it in range(life.shape[1]):
            if life[3, it] == NEVER:
                kinder[2, it] = min(life[2, it], max(spares[0], life[0, it]))
    return kinder


@kernel
def hastened(life: Times, spares: Times) -> Times:
    """Return lives in which spares may have taken what an open take took later."""
    kinder = spared(life, spares)
    for it in range(life.shape[1]):
        if life[2, it] == NEVER:
            kinder[2, it] = NEVER
    return kinder


@kernel
def needy(life: Times, deadlines: Times) -> Times:
    """Return the elements that need a spare, by deadline; all are < NEVER."""
    (found,) = np.nonzero((life[3] == NEVER) & (life[2] > deadlines))
    return found[np.argsort(deadlines[found])]


@kernel
def are_enough(spares: Times, deadlines: Times) -> bool:
    """Return whether there is a spare for each of some deadlines; both ascend."""
    return len(deadlines) <= len(spares) and bool(np.all(spares[: len(deadlines)] < deadlines))


@kernel
def rescued(life: Times, needy: Times, spares: Times) -> Times:
    """Return lives in which needy elements were taken by spares, as far as there are any."""
    kinder = life.copy()
    for place in range(min(len(needy), len(spares))):
        it = needy[place]
        kinder[2, it] = max(spares[place], life[0, it])
    return kinder


@kernel
def none_found_after(life: Times, nones: Times) -> Times:
    """Return deadlines by empty takes and were invoked after a put completed: int64[m].

    Args:
        life: int64[4, m].
        nones: int64[2, k], when those takes began, ascending, and ended.
    """
    soonest = np.full(nones.shape[1] + 1, NEVER)
    for none in range(nones.shape[1] - 1, -1, -1):
        soonest[none] = min(soonest[none + 1], nones[1, none])
    found: Times = soonest[np.searchsorted(nones[0], life[1])]
    return found
