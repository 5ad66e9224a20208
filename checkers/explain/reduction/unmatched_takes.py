"""Omits indeterminate calls that cannot have had an effect.

A take with an unknown answer takes an element, or finds nothing and changes nothing. If equal calls
that may as well never happen change the state k times at most in any legal order, only the first k
of them to be invoked are of use: where the i-th of them changes a state of a legal order, i of them
had been invoked, so the i-th of all by invocation had. Place the i-th invoked call there, and omit
the calls that leave the state unchanged.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol, runtime_checkable

from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel


@runtime_checkable
class UnmatchedTakesModel(SequentialModel, Protocol):
    """A model that bounds how often an indeterminate call can have an effect."""

    def most_changes(
        self,
        call: Hashable,
        starts: Sequence[Hashable],
        may: Sequence[Hashable],
        must: Sequence[Hashable],
    ) -> int | None:
        """Return how often calls equal to one can change the state in a legal order.

        None if the bound is unknown.

        Args:
            call: the call, which need not happen.
            starts: the states that the order may begin in.
            may: all optional calls.
            must: all that must.
        """
        ...

    def done(self, state: Hashable, call: Hashable) -> Hashable:
        """Return the effect of an indeterminate call in a state, as a call.

        Other calls are returned unchanged.
        """
        ...


def unmatched_takes_beside(
    model: SequentialModel, sub: SubHistory, whole: SubHistory
) -> tuple[Entry, ...]:
    """Return the indeterminate calls that could have an effect if every call were optional.

    Args:
        model: the model.
        sub: the reduced history.
        whole: the history.
    """
    if not isinstance(model, UnmatchedTakesModel):
        return ()
    calls = [entry.call for entry in sub.entries]
    there = {entry.operation.index for entry in sub.entries}
    beside = (one for one in whole.entries if one.operation.index not in there)
    lost = [one for one in beside if not one.is_required]
    most = {
        call: model.most_changes(call, sub.starts, calls, ())
        for call in dict.fromkeys(one.call for one in lost)
    }
    before = {call: count() for call in most}
    return tuple(one for one in lost if next(before[one.call]) < (most[one.call] or 0))


def without_unmatched_takes(model: SequentialModel, sub: SubHistory) -> SubHistory:
    """Return the sub-history without optional calls beyond the number that can have an effect."""
    if not isinstance(model, UnmatchedTakesModel):
        return sub
    may = [entry.call for entry in sub.entries if not entry.is_required]
    must = [entry.call for entry in sub.entries if entry.is_required]
    most = {call: model.most_changes(call, sub.starts, may, must) for call in dict.fromkeys(may)}
    before = {call: count() for call in most}
    entries = tuple(
        entry
        for entry in sub.entries
        if entry.is_required
        or (limit := most[entry.call]) is None
        or next(before[entry.call]) < limit
    )
    return replace(sub, entries=entries)
