"""Delta debugging: the removal of parts of a list while a property of the rest holds."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeVar

T = TypeVar("T")


def minimized(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """Remove smaller and smaller parts until no single item can be removed.

    Source: Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002.

    Args:
        items: The items; the list as a whole fails.
        fails: Whether a part of the list still fails.

    Returns:
        The remaining items, in their order.
    """
    kept, parts = list(items), 1
    while kept:
        size = ceil(len(kept) / parts)
        for start in range(0, len(kept), size):
            rest = kept[:start] + kept[start + size :]
            if fails(rest):
                kept, parts = rest, max(parts - 1, 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), parts * 2)
    return kept
