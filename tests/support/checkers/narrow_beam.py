"""A search by returns with less room than it has, so that a short history does not fit in."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from kraftproof.checkers.engines.repeated.beam_search import run as beam_run


@contextmanager
def with_room(room: Mapping[str, int]) -> Iterator[None]:
    """Has constants of the search be others."""
    with ExitStack() as patches:
        for name, value in room.items():
            patches.enter_context(patch.object(beam_run, name, value))
        yield
