"""An order of a priority queue's calls, for who asks for one: that of the sweep, step by step."""

import numpy as np

from kraftproof.checkers.calls.containers import PriorityQueueCalls
from kraftproof.checkers.engines.repeated.priority_queue.layout import Ints, lay_out
from kraftproof.checkers.engines.repeated.priority_queue.search import search
from kraftproof.checkers.options import Limits


def order_of(calls: PriorityQueueCalls, cut: int, limits: Limits) -> Ints | None:
    """Return calls of the only key up to an event in a legal order; None if none was found."""
    found = search(lay_out(calls, 0, len(calls), cut), limits, is_observed=True)
    if not found.is_passed:
        return None
    node, order = int(found.place.nodes[0]), []
    while node > 0:
        order.append(int(found.steps.calls[node]))
        node = int(found.steps.before[node])
    return np.asarray(order[::-1], dtype=np.int64)
