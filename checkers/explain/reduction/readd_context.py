"""Puts back what was left out of a sub-history, which may have happened or not.

A call is left out where nothing that remains needs it, and then what remains is reduced further, so
that it might need it after all: of a transaction's two reads the one that nothing made possible is
dropped, and a write that the other found was left out. Every step of that is sound, but one can't
see from what is left that it is impossible.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kraftproof.checkers.explain.reduction.reductions import (
    helpful,
    is_reducible,
    optional,
    projected,
    window,
)
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut

_MOST_FROM_THE_BEGINNING: Final = 2_000
"""What is longer is hardly ever decided."""


def readd_context(
    model: SequentialModel, whole: SubHistory, sub: SubHistory
) -> Iterator[SubHistory]:
    """Yields it with all else of its history, in some ways; invalid in any, it is so with all else.

    With what is about the same values, and with what is about others; from where it begins, and
    from the beginning, with what was over before that as it was.

    Args:
        model: the model.
        whole: the history.
        sub: what is left of it.
    """
    wholes = [whole]
    if is_reducible(model):
        about = frozenset().union(*(model.values(one.call) for one in sub.entries))
        wholes = [*([projected(model, whole, AllBut(about))] if about else []), whole]
    required = [one for one in sub.entries if one.is_required]
    for one in wholes:
        loose = _with_all_else(model, one, sub)
        late = None if sub.since is None else window(model, loose, sub.since, required)
        if late is not None:
            yield late
        if len(loose) <= _MOST_FROM_THE_BEGINNING:
            yield replace(loose, entries=helpful(model, loose.entries))


def _with_all_else(model: SequentialModel, whole: SubHistory, sub: SubHistory) -> SubHistory:
    """Returns a history with a sub-history's calls required, and what was over before it began."""
    left = {entry.operation.index: entry for entry in sub.entries}
    since = 0 if sub.since is None else sub.since
    others = [
        place
        for place, one in enumerate(whole.entries)
        if one.operation.index not in left
        and not (one.is_required and (one.operation.complete_index or 0) < since)
    ]
    loose = optional(model, whole, others)
    entries = tuple(left.get(one.operation.index, one) for one in loose.entries)
    return replace(loose, entries=entries)
