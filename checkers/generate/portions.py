"""Spreads the operations of a history over its keys, and cuts it into chunks of bounded size.

A history is generated in chunks, so that memory does not grow with its length. Keys are worked on
one after the other, as many at a time as a chunk holds, the way Jepsen's independent generators do;
a hot key is in every chunk. Between two chunks every client is idle for a moment: a key that goes
on in the next one is quiescent there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.generate.options import GenerateOptions

CHUNK_OPERATIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Portions:
    """The portions of the keys in one chunk: p portions.

    Attributes:
        key: int64[p], the numbers of the keys, ascending.
        first: int64[p], how many operations of the key were in earlier chunks.
        count: int64[p], the number of operations in this chunk; above 0.
    """

    key: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]


def portions_of(options: GenerateOptions, chunk: int = CHUNK_OPERATIONS) -> Iterator[Portions]:
    """Yield the portions of each chunk; empty without operations."""
    chunks = -(-options.operations // chunk)
    hot = round(options.operations * options.hot_key) if options.keys > 1 else 0
    ends = _ends(options.operations - hot, options.keys - (hot > 0))
    starts = np.concatenate([[0], ends[:-1]])
    for number in range(chunks):
        low, high = (ends[-1] * part // chunks for part in (number, number + 1))
        before, after = (np.clip(limit, starts, ends) - starts for limit in (low, high))
        hot_low, hot_high = (hot * part // chunks for part in (number, number + 1))
        key = np.arange(options.keys, dtype=np.int64)
        first = np.concatenate([[hot_low], before]) if hot else before
        count = np.concatenate([[hot_high - hot_low], after - before]) if hot else after - before
        has_any = count > 0
        yield Portions(key=key[has_any], first=first[has_any], count=count[has_any])


def _ends(operations: int, keys: int) -> NDArray[np.int64]:
    """Return where each key's operations end if they are shared out evenly, one key after another.

    Returns:
        int64[keys].
    """
    return operations * np.arange(1, keys + 1, dtype=np.int64) // keys
