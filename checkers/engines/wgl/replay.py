"""Replays one order of operations that somebody proposes, and return whether it is a legal one.

A legal order proves a history linearizable, wherever it comes from; one that is not proves nothing.
Time O(n log n) with the sorting that makes the order, memory O(n).
"""

from collections.abc import Sequence

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel


def is_legal(model: SequentialModel, operations: Sequence[Operation], order: Sequence[int]) -> bool:
    """Return whether an order explains every answer, and keeps to real time.

    Args:
        model: what the operations are of.
        operations: all operations of a key, failed ones included.
        order: places among them; what was answered must be among these.
    """
    answered = {place for place, operation in enumerate(operations) if operation.status == "ok"}
    if len(set(order)) != len(order) or not answered.issubset(order):
        return False
    calls = model.calls(operations)
    state = model.init()
    latest_invocation = -1
    for place in order:
        operation, call = operations[place], calls[place]
        latest_invocation = max(latest_invocation, operation.invoke_index)
        if operation.status == "ok":
            assert operation.complete_index is not None
            if operation.complete_index < latest_invocation:
                return False
        if operation.status == "fail":
            return False
        following = state if call is None else model.step(state, call)
        if following is None:
            return False
        state = following
    return True
