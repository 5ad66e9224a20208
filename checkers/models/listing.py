"""Many elements in words, for descriptions of states."""

from collections.abc import Sequence
from typing import Final

_MOST_AT_AN_END: Final = 40
"""A line holds fewer (see explain/text), and a state may hold as many as the history."""


def listed(elements: Sequence[object]) -> str:
    """Return elements with commas between them; of very many the first and the last."""
    if len(elements) > 2 * _MOST_AT_AN_END:
        elements = [*elements[:_MOST_AT_AN_END], "…", *elements[-_MOST_AT_AN_END:]]
    return ", ".join(map(str, elements))
