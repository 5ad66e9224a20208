"""Finds answers that nothing can have made possible, where no engine decided the whole history.

The search for an order may be hopeless, and one answer plainly wrong all the same:

- A call that is legal in no state which the calls invoked before it was over can lead to, each of
  them any number of times and in any order, has no place. Asked of each value alone, of which few
  calls are left (`ReducibleModel.without`), there are few such states.
- More came out of what holds items than was put in, or something has to be left where nothing was
  found (`checkers.judge.counting`).

Whether the earlier operations are linearizable is not decided here.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.counting import first_unbalanced
from kraftproof.checkers.judge.entries import Entry, entries_of, without_optional_pure
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut, HoldingModel, is_reducible
from kraftproof.checkers.verdict import Verdict

_MOST_PROJECTED: Final = 3_000_000
"""Calls that are looked at, once for each value."""
_MOST_STATES: Final = 1_024
"""Above this number of states, a call is assumed to be legal in some state."""
_MOST_STEPS: Final = 5_000_000
"""Maximum number of model steps for one value: some seconds."""
_NEVER: Final = 1 << 62


def refute(model: SequentialModel, operations: Sequence[Operation]) -> Outcome | None:
    """Return that a key is invalid because of an impossible answer.

    None without an impossible answer.

    Args:
        model: the model.
        operations: all of the key, in the order of their invocations.
    """
    entries = without_optional_pure(model, entries_of(model, operations))
    found = [one for one in _illegal(model, entries) if one is not None]
    if isinstance(model, HoldingModel):
        unbalanced = first_unbalanced(model, entries)
        found += [] if unbalanced is None else [unbalanced]
    if not found:
        return None
    first = min(found, key=_end)
    row = next(n for n, one in enumerate(operations) if one.index == first.operation.index)
    return Outcome(
        verdict=Verdict.INVALID, engine="impossible", first_illegal_row=row, linearizable=None
    )


def _illegal(model: SequentialModel, entries: Sequence[Entry]) -> Iterator[Entry | None]:
    """Yield the first call that is legal nowhere, for each value alone."""
    distinct = list(dict.fromkeys(entry.call for entry in entries))
    values: set[Hashable] = set()
    if is_reducible(model):
        values = {value for call in distinct for value in model.values(call)}
    if len(values) * len(distinct) > _MOST_PROJECTED:
        return
    for kept in [[value] for value in values] or [[]]:
        others = AllBut(kept)
        left = {
            call: model.without(call, others) if values and is_reducible(model) else call
            for call in distinct
        }
        yield _first_illegal(model, entries, left)


def _first_illegal(
    model: SequentialModel, entries: Sequence[Entry], left: Mapping[Hashable, Hashable | None]
) -> Entry | None:
    """Return the first to complete of the calls of which what is left is legal nowhere."""
    events = [(one.operation.invoke_index, False, n) for n, one in enumerate(entries)]
    events += [(_end(one), True, n) for n, one in enumerate(entries) if one.is_required]
    updates: dict[Hashable, None] = {}
    asked: set[Hashable] = set()
    steps = 0
    for _, is_over, number in sorted(events):
        call = left[entries[number].call]
        if call is None or (is_over and call in asked):
            continue
        if not is_over:
            updates.update({} if model.is_pure(call) else {call: None})
            continue
        asked.add(call)
        is_legal, taken = _is_legal_somewhere(model, list(updates), call)
        if is_legal is False:
            return entries[number]
        steps += taken
        if steps > _MOST_STEPS:
            return None
    return None


def _is_legal_somewhere(
    model: SequentialModel, updates: Sequence[Hashable], call: Hashable
) -> tuple[bool | None, int]:
    """Return whether updates lead to a state in which a call is legal, and after how many steps.

    None if the updates lead to too many states.
    """
    normal = model.normal_form([*updates, call])
    seen = {normal(model.init())}
    waiting = list(seen)
    steps = 0
    while waiting and len(seen) <= _MOST_STATES:
        state = waiting.pop()
        steps += 1 + len(updates)
        if model.step(state, call) is not None:
            return True, steps
        for update in updates:
            following = model.step(state, update)
            if following is not None and (after := normal(following)) not in seen:
                seen.add(after)
                waiting.append(after)
    return (None if waiting else False), steps


def _end(entry: Entry) -> int:
    return _NEVER if entry.operation.complete_index is None else entry.operation.complete_index
