"""The order of a stack's calls by which a state of a sweep came about (`stack_graph_sweep`)."""

import numpy as np

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    BEFORE,
    BELOW,
    BEST,
    BOTTOM,
    CALL,
    COST,
    COUNT,
    FRAME,
    INNER,
    NONE,
    OUTER,
    PUT_BY,
    TAKEN_BY,
    TOTAL,
    WORD,
)
from kraftproof.checkers.engines.repeated.stack.graph_steps import INDETERMINATE
from kraftproof.checkers.engines.repeated.stack.graph_workspace import Sweep
from kraftproof.checkers.engines.repeated.stack.layout import Calls, Ints
from kraftproof.checkers.kernels import kernel


def order_of(calls: Calls, sweep: Sweep) -> Ints | None:
    """Return puts and takes in the order of the state that costs the least.

    None if more calls of a kind were used than were lost.
    """
    states = sweep.frontier.rows[: sweep.frontier.at[COUNT]]
    cheapest = int(np.argmin(sweep.frames.rows[states[:, FRAME], TOTAL] + states[:, COST]))
    order = _steps(sweep, cheapest)
    for kind in np.unique(INDETERMINATE - order[order <= INDETERMINATE]).tolist():
        (places,) = np.nonzero(order == INDETERMINATE - kind)
        indeterminate = calls.indeterminate[
            calls.indeterminate_from[kind] : calls.indeterminate_from[kind + 1]
        ]
        if len(places) > len(indeterminate):
            return None
        order[places] = indeterminate[: len(places)]
    return order


@kernel
def _steps(sweep: Sweep, place: Integer) -> Ints:
    """Return the puts and takes by which a state of the frontier came about, in order."""
    words, edges, frames = sweep.words.rows, sweep.edges.rows, sweep.frames.rows
    found = [0 for _ in range(0)]
    returns = [(0, 0) for _ in range(0)]
    frame, word = sweep.frontier.rows[place, FRAME], sweep.frontier.rows[place, WORD]
    while word != NONE or len(returns) > 0 or frame != BOTTOM:
        if word != NONE:  # from the last take to the first put
            found.append(words[word, TAKEN_BY])
            returns.append((words[word, PUT_BY], words[word, OUTER]))
            word = words[word, INNER]
        elif len(returns) > 0:
            call, word = returns.pop()
            found.append(call)
        else:
            edge = frames[frame, BEST]
            found.append(edges[edge, CALL])
            frame, word = edges[edge, BELOW], edges[edge, BEFORE]
    return np.array(found[::-1], dtype=np.int64)
