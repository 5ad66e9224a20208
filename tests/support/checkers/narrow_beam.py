"""A search by returns with less room than it has, so that a short history does not fit in."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from kraftproof.checkers.engines.repeated.beam_search import effort as beam_effort
from kraftproof.checkers.engines.repeated.beam_search import run as beam_run


@contextmanager
def with_room(room: Mapping[str, int]) -> Iterator[None]:
    """Has constants of the search, or of its effort, be others."""
    with ExitStack() as patches:
        for name, value in room.items():
            module = beam_effort if hasattr(beam_effort, name) else beam_run
            patches.enter_context(patch.object(module, name, value))
        yield
