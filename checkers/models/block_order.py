"""When blocks of calls come, of which no two may be mixed and no two are in each other's way.

Of a block `first` is the earliest completion and `last` the latest invocation; it must go before
another if its first is before the other's last (Gibbons and Korach, "Testing shared memories",
1997). So blocks that are *forward*, first < last, span times apart from each other, and any other
has its moment between its last and its first, outside of these.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BEFORE_ALL: Final = np.iinfo(np.int64).min
"""The first of a block that begins before every event."""


def moments(first: Ints, last: Ints) -> Ints:
    """Returns when each block comes: int64[b], events.

    A forward one when its span begins, another as soon as it can.

    Args:
        first: int64[b], the earliest completion of each.
        last: int64[b], the latest invocation.
    """
    forward = first < last
    order = np.argsort(first[forward])
    begins, ends = first[forward][order], last[forward][order]
    around = np.searchsorted(begins, last) - 1  # -1 if none is, which stands for the one appended
    return np.where(forward, first, np.maximum(last, np.append(ends, BEFORE_ALL)[around]))
