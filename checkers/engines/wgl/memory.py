"""What the configurations of a search take in memory, by weighing some of them.

A state may be as long as the history: a list that was appended to, a queue that nobody empties.
What a model makes with each state is its own affair; here tuples and frozen sets are weighed,
which share what is in them with the calls, except tuples, sets and numbers.
"""

import sys
from typing import Final

_CONFIGURATION_BYTES: Final = 400
"""What a remembered or waiting configuration costs, measured generously, its state apart."""
_ALLOWANCE_BYTES: Final = 50_000_000
"""So much may states and masks take before they count: on short histories they never do."""


class Weight:
    """Weighs the configurations that it is shown, which stand for all others."""

    def __init__(self) -> None:
        self._weighed = 0
        self._bytes = 0

    def with_one_more(self, configuration: tuple[object, ...], count: int) -> int:
        """Return what so many configurations take in bytes, now that one more was weighed."""
        self._weighed += 1
        self._bytes += _bytes_of(configuration)
        extra = count * self._bytes // self._weighed - _ALLOWANCE_BYTES
        return count * _CONFIGURATION_BYTES + max(extra, 0)


def _bytes_of(value: object) -> int:
    own = sys.getsizeof(value)
    if not isinstance(value, tuple | frozenset):
        return own
    return own + sum(_bytes_of(part) for part in value if isinstance(part, tuple | frozenset | int))
