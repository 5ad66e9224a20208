"""Finds the operations that could have enabled the offending operation, and why these did not.

The result is a hint for people, not a proof: the search looks one step ahead from one state.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import cache, partial

from kraftproof.checkers.explain.reduction.reductions import weaker_calls
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.text.message_text import operation_text
from kraftproof.checkers.explain.text.operations import operation_view
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel


def candidate_causes(
    model: SequentialModel,
    states: Sequence[Hashable],
    first_illegal: Operation,
    whole: SubHistory,
    entries: Sequence[Entry],
    answers: Collection[str],
) -> list[str]:
    """Return a sentence on the last operation that would make the offending operation legal.

    Args:
        model: the model.
        states: the start of the search: the state after the longest linearization or, without a
            linearization, the initial states of the minimal sub-history.
        first_illegal: the first illegal operation.
        whole: all calls invoked before the completion of the offending operation.
        entries: the calls of the minimal sub-history.
        answers: the functions whose answers count.
    """
    call = next(
        entry.call for entry in whole.entries if entry.operation.index == first_illegal.index
    )
    state = next((one for one in states if model.step(one, call) is None), None)
    if state is None:
        return []
    before = [entry for entry in whole.entries if entry.operation.index != first_illegal.index]
    helps = cache(partial(_helps, model, state, first_illegal=call))
    last = next((entry for entry in reversed(before) if helps(entry.call)), None)
    if last is None:
        return ["No operation invoked before its completion makes it legal."]
    if any(entry.operation.index == last.operation.index for entry in entries):
        return []
    later = _first_after(last, entries)
    if later is None:
        return []
    operation = operation_view(last.operation, answers)
    return [
        f"The last operation that could have made it legal is {operation_text(operation)},"
        f" events {operation.invoke_index} to {operation.complete_index}; it completed before"
        f" operation {later.operation.index} began."
    ]


def _helps(
    model: SequentialModel, state: Hashable, call: Hashable, first_illegal: Hashable
) -> bool:
    after = (model.step(state, one) for one in (call, *weaker_calls(model, call)))
    return any(one is not None and model.step(one, first_illegal) is not None for one in after)


def _first_after(last: Entry, entries: Sequence[Entry]) -> Entry | None:
    """Return the first required entry invoked after an operation completed.

    None if there is none.
    """
    end = last.operation.complete_index
    if not last.is_required or end is None:
        return None
    return next(
        (one for one in entries if one.is_required and one.operation.invoke_index > end), None
    )
