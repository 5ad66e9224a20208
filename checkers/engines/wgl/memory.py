"""Estimate the memory of a search's configurations by weighing some of them.

A state may be as long as the history: a list that grows, or a queue that nobody empties. The
objects of a model are its own affair; tuples and frozen sets are weighed, whose elements the calls
share, except tuples, sets and numbers.
"""

import sys
from typing import Final

_CONFIGURATION_BYTES: Final = 400
"""What a remembered or waiting configuration costs, measured generously, its state apart."""
_ALLOWANCE_BYTES: Final = 50_000_000
"""The bytes that states and masks may take before they count: short histories stay below."""


class Weight:
    """The average weight of the configurations weighed so far."""

    def __init__(self) -> None:
        self._weighed = 0
        self._bytes = 0

    def with_one_more(self, configuration: tuple[object, ...], count: int) -> int:
        """Weigh a configuration, and return the estimated bytes of a number of them."""
        self._weighed += 1
        self._bytes += _bytes_of(configuration)
        extra = count * self._bytes // self._weighed - _ALLOWANCE_BYTES
        return count * _CONFIGURATION_BYTES + max(extra, 0)


def _bytes_of(value: object) -> int:
    own = sys.getsizeof(value)
    if not isinstance(value, tuple | frozenset):
        return own
    return own + sum(_bytes_of(part) for part in value if isinstance(part, tuple | frozenset | int))
