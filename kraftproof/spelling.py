"""The known spelling that is nearest to an unknown name, for the line that refuses the name."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LONGEST_NAME: Final = 100
"""Largest number of characters of a name that is compared: a longer one is no slip."""
SIMILARITY: Final = 0.7
"""Least similarity of two spellings, from 0 to 1, as difflib measures it."""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a question in brackets with the known name of the nearest spelling, else nothing."""
    known = tuple(known)
    if not isinstance(name, str) or len(name) > LONGEST_NAME or name in known:
        return ""
    in_small_letters = {one.lower(): one for one in known}
    found = get_close_matches(name.strip().lower(), in_small_letters, n=1, cutoff=SIMILARITY)
    return f" (did you mean {in_small_letters[found[0]]}?)" if found else ""
