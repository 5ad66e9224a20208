"""Reductions of an invalid history that are sound: a linearizable history stays linearizable.

Hence an invalid sub-history proves that the whole is invalid. Each reduction maps a legal order of
the whole to a legal order of the remaining calls: - `prefix`: the first calls of a legal order, up
to an event, contain all operations that completed by the event, and some open operations; an open
operation may have taken effect, with the answer of its later completion.
- `optional`: a legal order with the call stays legal if the call becomes optional.
- `dropped`, for pure calls: a pure call leaves every state unchanged.
- `weakened`: a call is replaced by a call that is legal in at least the same states, with the same
  effect (`ReducibleModel.weaker`; a compare-and-set without its comparison is a write).
- `projected`: some values are left out of every call (`ReducibleModel.without`).
- `window`: let a legal order place each call at a moment. The calls placed after an event are the
  calls invoked after the event and some calls open at the event, in an order that starts from the
  state at the event. This state is unknown, so a window may begin in any state that the earlier
  calls can reach (`ReducibleModel.any_state`, or a search of these states).
- `tidied`: an optional call is omitted if each of its result states is *simulated* by the state
  before the call, step by step, for all remaining calls. Taking the last such call out of a legal
  order leaves a legal order.
- `helpful`: an optional call is omitted if no remaining call can depend on its effect, directly or
  through other calls (`ReducibleModel.candidate_causes`). In a legal order, only omitted calls
  depend on the last omitted call, so removing the call leaves a legal order; the argument repeats
  for the last but one.
- `without_unmatched_takes`: of equal optional calls, only as many remain, the first by invocation,
  as can have had an effect (`checkers.explain.reduction.unmatched_takes`).
- `counted`: for alternating calls, two calls of one kind remain with no call in between, if
  counting proves the violation (`checkers.explain.certificate.alternation`).
- `added_up`: of calls that add to a sum, the calls of a violated bound remain, if a bound is
  violated (`checkers.explain.certificate.sum_bounds`).
- `balanced`: of puts and takes, the calls remain that stay unmatched, if counting proves a
  violation (`checkers.explain.certificate.counting`).

Deleting a call is not among them: without its write, a linearizable history of a register and a
read turns invalid.
"""

import dataclasses
from collections.abc import Collection, Container, Hashable, Sequence

import msgspec

from kraftproof.checkers.explain.certificate.alternation import too_many
from kraftproof.checkers.explain.certificate.counting import left_over, unbalanced
from kraftproof.checkers.explain.certificate.state_space import reachable, useless_calls
from kraftproof.checkers.explain.certificate.sum_bounds import contradicting_sum_bound, left_of
from kraftproof.checkers.explain.reduction.unmatched_takes import without_unmatched_takes
from kraftproof.checkers.explain.subhistory import BEGINNING, SubHistory
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.entries import Entry, entries_of, without_optional_pure
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import (
    AllBut,
    HoldingModel,
    ReducibleModel,
    SummingModel,
    is_reducible,
)


def prefix(model: SequentialModel, operations: Sequence[Operation], end: int) -> SubHistory:
    """Returns what was invoked up to an event; what completed after it is optional."""
    entries = entries_of(model, operations)
    return until(model, SubHistory(entries=entries, starts=(model.init(),)), end)


def until(model: SequentialModel, sub: SubHistory, end: int) -> SubHistory:
    """Return the calls invoked up to an event; calls that completed later are optional."""
    begun = (one for one in sub.entries if one.operation.invoke_index <= end)
    entries = (Entry(_cut(operation, end), call) for operation, call in begun)
    return _with(sub, without_optional_pure(model, entries))


def optional(model: SequentialModel, sub: SubHistory, places: Collection[int]) -> SubHistory:
    """Return the sub-history with some calls made optional."""
    chosen = set(places)
    entries = (
        _made_optional(entry) if place in chosen else entry
        for place, entry in enumerate(sub.entries)
    )
    return _with(sub, without_optional_pure(model, entries))


def dropped(model: SequentialModel, sub: SubHistory, places: Collection[int]) -> SubHistory:
    """Return the sub-history without some of its pure calls."""
    chosen = set(places)
    assert all(model.is_pure(sub.entries[place].call) for place in chosen)
    return _with(sub, [one for place, one in enumerate(sub.entries) if place not in chosen])


def weakened(
    model: SequentialModel, sub: SubHistory, places: Collection[int], choice: int = 0
) -> SubHistory:
    """Return the sub-history with some calls replaced by their weaker call number `choice`."""
    chosen = set(places)
    entries = [
        Entry(entry.operation, weaker_calls(model, entry.call)[choice])
        if place in chosen
        else entry
        for place, entry in enumerate(sub.entries)
    ]
    return _with(sub, entries)


def weakest(model: SequentialModel, sub: SubHistory) -> SubHistory:
    """Return the sub-history with each call weakened until no call has a weaker form."""
    places = [n for n, entry in enumerate(sub.entries) if weaker_calls(model, entry.call)]
    return weakest(model, weakened(model, sub, places)) if places else sub


def projected(model: ReducibleModel, sub: SubHistory, values: Container[Hashable]) -> SubHistory:
    """Return the sub-history without some values; `sub` must begin with the history."""
    assert sub.since is None
    remains = ((entry.operation, model.without(entry.call, values)) for entry in sub.entries)
    entries = (Entry(operation, call) for operation, call in remains if call is not None)
    return _with(sub, without_optional_pure(model, entries))


def window(
    model: SequentialModel,
    sub: SubHistory,
    since: int,
    required: Collection[Entry] | None = None,
) -> SubHistory | None:
    """Return the calls placed after an event, from any state; None above the limit of states.

    Args:
        model: the model.
        sub: the sub-history.
        since: the event.
        required: the calls after the event that stay required; None for all calls.
    """
    later = (
        _made_optional(entry)
        if entry.is_required
        and (
            entry.operation.invoke_index < since or (required is not None and entry not in required)
        )
        else entry
        for entry in sub.entries
        if not (entry.is_required and _completed(entry) < since)
    )
    entries = helpful(model, without_optional_pure(model, later))
    begun = [entry.call for entry in sub.entries if entry.operation.invoke_index < since]
    starts = _any_state(model, sub.starts, begun, [entry.call for entry in entries])
    if starts is None:
        return None
    return dataclasses.replace(sub, entries=entries, starts=starts, since=since)


def helpful(model: SequentialModel, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries without optional calls that the model declares useless."""
    if not is_reducible(model):
        return tuple(entries)
    left = dict.fromkeys(entry.call for entry in entries if not entry.is_required)
    needed: Collection[Hashable] = {entry.call for entry in entries if entry.is_required}
    while left and needed:
        needed = list(model.candidate_causes(left, needed))
        for call in needed:
            del left[call]
    return tuple(one for one in entries if one.is_required or one.call not in left)


def tidied(model: SequentialModel, sub: SubHistory) -> SubHistory:
    """Return the sub-history without optional calls that enable no other call."""
    sub = without_unmatched_takes(model, _with(sub, helpful(model, sub.entries)))
    candidates = {entry.call for entry in sub.entries if not entry.is_required}
    if not candidates:
        return sub
    useless = candidates & useless_calls(model, sub.starts, [entry.call for entry in sub.entries])
    entries = [one for one in sub.entries if one.is_required or one.call not in useless]
    if len(entries) == len(sub):
        return sub
    return tidied(model, _with(sub, entries))


def counted(model: SequentialModel, sub: SubHistory) -> SubHistory | None:
    """Return only the surplus calls of an alternation; None if counting proves nothing."""
    kinds = list(dict.fromkeys(entry.call for entry in reversed(sub.entries)))
    other = model.alternates_with(kinds[0]) if is_reducible(model) and kinds else None
    if other is None or not {*kinds} <= {kinds[0], other}:
        return None
    surplus = next(filter(None, (too_many(model, sub, kind) for kind in kinds)), None)
    if surplus is None:
        return None
    begin, entries = surplus.left_over()
    rest = dataclasses.replace(sub, entries=entries, surplus=surplus)
    later = None if begin == BEGINNING else window(model, sub, begin)
    if later is None:
        return rest
    return dataclasses.replace(rest, starts=later.starts, since=later.since)


def added_up(model: SequentialModel, sub: SubHistory) -> SubHistory | None:
    """Return only the calls of a violated sum bound; None if addition proves nothing."""
    if not isinstance(model, SummingModel):
        return None
    total = contradicting_sum_bound(model, sub)
    return None if total is None else left_of(model, total)


def balanced(model: SequentialModel, sub: SubHistory, fewest: int) -> SubHistory | None:
    """Return only the calls that prove an excess of takes or a remaining element.

    None if counting shows nothing.

    Args:
        model: the model.
        sub: the sub-history.
        fewest: up to this number of counted calls, the calls stay as recorded.
    """
    if not isinstance(model, HoldingModel):
        return None
    balance = unbalanced(model, sub)
    if balance is None:
        return None
    if len(balance.over) + len(balance.begun) > fewest:
        return left_over(model, balance)
    return tidied(model, projected(model, sub, AllBut(balance.about)))


def weaker_calls(model: SequentialModel, call: Hashable) -> Sequence[Hashable]:
    """Return what a call may be replaced by."""
    return model.weaker(call) if is_reducible(model) else ()


def _with(sub: SubHistory, entries: Sequence[Entry]) -> SubHistory:
    return dataclasses.replace(sub, entries=tuple(entries))


def _cut(operation: Operation, end: int) -> Operation:
    """The operation; not ok if it isn't completed by the event."""
    if operation.status == "ok" and _completed_at(operation) > end:
        return msgspec.structs.replace(operation, status="info")
    return operation


def _made_optional(entry: Entry) -> Entry:
    return Entry(msgspec.structs.replace(entry.operation, status="info"), entry.call)


def _completed(entry: Entry) -> int:
    return _completed_at(entry.operation)


def _completed_at(operation: Operation) -> int:
    assert operation.complete_index is not None, "only what was completed is ok"
    return operation.complete_index


def _any_state(
    model: SequentialModel,
    starts: Sequence[Hashable],
    begun: Sequence[Hashable],
    calls: Sequence[Hashable],
) -> tuple[Hashable, ...] | None:
    """Return representatives of the states that the calls reach; None above the limit of states."""
    found = model.any_state(starts, begun, calls) if is_reducible(model) else None
    if found is None:
        found = reachable(model, starts, list(dict.fromkeys(begun)))
    if found is None:
        return None
    normal = model.normal_form(calls)
    return tuple(dict.fromkeys(normal(state) for state in found))
