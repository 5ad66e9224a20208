"""The operations that could have made the stuck one possible, and why they did not.

A heuristic for people, no proof: it looks at one step from one state.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import cache, partial

from kraftproof.checkers.explain.reduction.reductions import weaker_calls
from kraftproof.checkers.explain.subhistory import Entry, SubHistory
from kraftproof.checkers.explain.text.message_text import who
from kraftproof.checkers.explain.text.operations import operation_view
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel


def candidate_causes(
    model: SequentialModel,
    states: Sequence[Hashable],
    stuck: Operation,
    whole: SubHistory,
    entries: Sequence[Entry],
    answers: Collection[str],
) -> list[str]:
    """Returns a sentence on the last operation after which the stuck one would be legal.

    Args:
        model: the model.
        states: what it is looked for from: the state that the longest linearization leaves, or, if
            none was found, those that the minimal sub-history may begin in.
        stuck: the operation that has no place.
        whole: all that was invoked before the stuck operation was over.
        entries: those of the minimal sub-history.
        answers: the functions whose answers count.
    """
    call = next(entry.call for entry in whole.entries if entry.operation.index == stuck.index)
    state = next((one for one in states if model.step(one, call) is None), None)
    if state is None:
        return []
    before = [entry for entry in whole.entries if entry.operation.index != stuck.index]
    helps = cache(partial(_helps, model, state, stuck=call))
    last = next((entry for entry in reversed(before) if helps(entry.call)), None)
    if last is None:
        return ["No operation that was invoked before it was over makes it possible."]
    if any(entry.operation.index == last.operation.index for entry in entries):
        return []
    later = _first_after(last, entries)
    if later is None:
        return []
    operation = operation_view(last.operation, answers)
    return [
        f"The last that could have made it possible is {who(operation)}"
        f" (events {operation.invoke_index} to {operation.complete_index}), over before"
        f" operation {later.operation.index} began."
    ]


def _helps(model: SequentialModel, state: Hashable, call: Hashable, stuck: Hashable) -> bool:
    after = (model.step(state, one) for one in (call, *weaker_calls(model, call)))
    return any(one is not None and model.step(one, stuck) is not None for one in after)


def _first_after(last: Entry, entries: Sequence[Entry]) -> Entry | None:
    """The first of the sub-history that began when an operation was over; None if it wasn't."""
    end = last.operation.complete_index
    if not last.is_required or end is None:
        return None
    return next(
        (one for one in entries if one.is_required and one.operation.invoke_index > end), None
    )
