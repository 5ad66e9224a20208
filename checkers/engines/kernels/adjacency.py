"""Graphs as arrays of edges, and the targets of each node."""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]


@kernel
def successors(edges: Ints, nodes: int) -> tuple[Ints, Ints]:
    """Return the targets of edges by source: int64[nodes + 1], where each node's lie, and they."""
    starts = np.zeros(nodes + 1, dtype=np.int64)
    for source in edges[0]:
        starts[source + 1] += 1
    starts = np.cumsum(starts)
    places, targets = starts.copy(), np.empty(edges.shape[1], dtype=np.int64)
    for edge in range(edges.shape[1]):
        source = edges[0, edge]
        targets[places[source]] = edges[1, edge]
        places[source] += 1
    return starts, targets
