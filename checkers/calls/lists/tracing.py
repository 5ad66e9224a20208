"""Traces read elements to the appends that wrote the elements."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.lists.elements import ABORTED, UNKNOWN, Pairs

_MANY_ELEMENTS: Final = 5_000_000
"""Elements read, above which tracing them to their appends is worth a compilation."""


def trace(
    writes: Pairs,
    aborted: Pairs,
    lists: NDArray[np.int64],
    seen: NDArray[np.int64],
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Traces the elements read by actions to the appends that wrote the elements.

    Args:
        writes: lists and values of the appends.
        aborted: the same for failed actions.
        lists: int64[a], the list of each action.
        seen: int64[a + 1], the ranges in `values` that the actions read.
        values: int64[e].

    Returns:
        int64[e], places among `writes`, the first of those with an element, or UNKNOWN or ABORTED;
        and int64[w], the same of each write.
    """
    if len(writes[0]) + len(values) > _MANY_ELEMENTS:
        # Imported when needed: compiled kernels.
        from kraftproof.checkers.calls.lists.integers import trace as compiled_trace

        return compiled_trace(*writes, *aborted, lists, seen, values)
    return traced(writes, aborted, (np.repeat(lists, np.diff(seen)), values))


def traced(writes: Pairs, aborted: Pairs, sought: Pairs) -> Pairs:
    """Do what `trace` asks for with numpy; what is sought has a list for each element."""
    known = np.unique(np.concatenate((writes[1], aborted[1])))
    lists = 1 + max(int(part.max(initial=-1)) for part in (writes[0], aborted[0], sought[0]))

    def pairs_of(pairs: Pairs) -> NDArray[np.int64]:
        return np.searchsorted(known, pairs[1]) * lists + pairs[0]

    written, first_write, inverse = np.unique(
        pairs_of(writes), return_index=True, return_inverse=True
    )
    found = np.full(len(sought[1]), UNKNOWN, dtype=np.int64)
    values = np.searchsorted(known, sought[1])
    values[values == len(known)] = 0
    if len(known):
        is_known = known[values] == sought[1]
        pairs = values * lists + sought[0]
        places = np.searchsorted(written, pairs)
        places[places == len(written)] = 0
        is_written = is_known & (written[places] == pairs) if len(written) else is_known & False
        found[is_written] = first_write[places[is_written]]
        lost = np.flatnonzero(is_known & ~is_written)
        found[lost[np.isin(pairs[lost], pairs_of(aborted))]] = ABORTED
    return found, first_write[inverse]
