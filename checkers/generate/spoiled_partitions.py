"""Makes the final read of a partition wrong; each kind breaks a promise for certain."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kraftproof.checkers.verdict import CheckerInputError

Ints = NDArray[np.int64]
FEWEST: Final = 40
"""Records that a partition needs for a corruption: records far apart do not overlap in time."""


class Corrupted(NamedTuple):
    """The records of the final reads.

    Attributes:
        logs: int64[n] for each partition, the values.
        offsets: int64[n] by partition, the offsets, if they are not 0 to n - 1.
    """

    logs: list[Ints]
    offsets: dict[int, Ints]


def spoil(kind: str, logs: list[Ints], random: Generator) -> Corrupted:
    """Return the final reads with one wrong place.

    Raises:
        CheckerInputError: no partition has enough records.
    """
    long = [key for key, log in enumerate(logs) if len(log) >= FEWEST]
    if not long:
        raise CheckerInputError(
            f"--corrupt {kind}: a partition of {FEWEST} records or more is expected"
        )
    key = int(random.choice(long))
    log, offset = CORRUPTIONS[kind](logs[key], random)
    return Corrupted([*logs[:key], log, *logs[key + 1 :]], {key: offset})


def _lost(log: Ints, random: Generator) -> tuple[Ints, Ints]:
    """Leave out some neighbouring records, of which at least one was acknowledged by all."""
    place = int(random.integers(0, len(log) - FEWEST // 2))
    gone = np.arange(place, place + FEWEST // 2)
    return np.delete(log, gone), np.delete(np.arange(len(log)), gone)


def _repeated(log: Ints, random: Generator) -> tuple[Ints, Ints]:
    """Append again the value of an idempotent producer."""
    idempotent = np.flatnonzero((log >> 32) % 20 == 0)
    again = log[random.choice(idempotent)] if len(idempotent) else log[0]
    return np.append(log, again), np.arange(len(log) + 1)


def _phantom(log: Ints, random: Generator) -> tuple[Ints, Ints]:
    """Append a value that no producer sent."""
    del random
    return np.append(log, np.int64(1 << 32 | 4_000_000_000)), np.arange(len(log) + 1)


def _reordered(log: Ints, random: Generator) -> tuple[Ints, Ints]:
    """Exchange the two halves of the log."""
    del random
    half = len(log) // 2
    return np.concatenate((log[half:], log[:half])), np.arange(len(log))


CORRUPTIONS: Final[dict[str, Callable[[Ints, Generator], tuple[Ints, Ints]]]] = {
    "lost": _lost,
    "repeated": _repeated,
    "phantom": _phantom,
    "reordered": _reordered,
}
