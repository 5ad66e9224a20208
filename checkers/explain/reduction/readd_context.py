"""Adds omitted operations back to a sub-history as optional operations.

A call is omitted if no remaining call needs its effect. A later reduction may remove the reason:
for example, of a transaction with two reads, the impossible read is dropped, and the write that the
other read needs was already omitted. Each step is sound, but the remaining calls alone can then be
linearizable.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kraftproof.checkers.explain.reduction.reductions import helpful, optional, projected, window
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut, is_reducible

_MOST_FROM_THE_BEGINNING: Final = 2_000
"""Longer sub-histories are hardly ever decided."""


def readd_context(
    model: SequentialModel, whole: SubHistory, sub: SubHistory
) -> Iterator[SubHistory]:
    """Yield the sub-history with omitted operations added back.

    If a variant is invalid, the whole is.

    The variants add operations on the same values, or on all values, either from the first event of
    the sub-history or from the beginning of the history.

    Args:
        model: the model.
        whole: the history.
        sub: the reduced history.
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
    """Return a history with a sub-history's calls required, from its beginning on."""
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
