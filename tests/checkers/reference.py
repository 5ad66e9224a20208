"""A second opinion: linearizability by trying every order, written straight from the definition.

It shares no code with `checkers.engines` or `checkers.models`: each model is said here once more,
as plain Python on the values of the operations. Only for a handful of operations.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

from checkers.history import Operation

State = Any
Apply = Callable[[State, Operation, bool], State]
"""(state, operation, whether its answer counts) -> the state after it; IllegalError if it can't."""


class IllegalError(Exception):
    """The operation can't have had this answer in this state."""


def require(holds: bool) -> None:
    if not holds:
        raise IllegalError


def cas_register(state, operation, answered):
    if operation.f == "read":
        require(not answered or state == operation.output)
        return state
    if operation.f == "write":
        return operation.input
    require(state == operation.input[0])
    return operation.input[1]


def kv_append(state, operation, answered):
    if operation.f == "get":
        require(not answered or (state or "") == (operation.output or ""))
        return state
    return operation.input if operation.f == "put" else (state or "") + operation.input


def mutex(state, operation, answered):
    require(bool(state) == (operation.f == "release"))
    return operation.f == "acquire"


def multi_register(initial):
    def apply(state, operation, answered):
        values = dict(state or {})
        for action, register, value in operation.output if answered else operation.input:
            if action == "write":
                values[register] = value
            else:
                require(not answered or values.get(register, initial) == value)
        return values

    return apply


def topics(state, operation, answered):
    said = operation.output["outcome"] if answered else None
    topic_id = (operation.input or {}).get("id")
    if operation.f == "create":
        require(said == "exists" or state is None)
        require(said != "exists" or state is not None)
        return state if said == "exists" else (operation.output or {}).get("id", operation)
    if operation.f == "lookup":
        require(not answered or (state is None) == (said == "absent"))
        return state
    if operation.f == "describe":
        return state
    hits = state is not None and topic_id in {None, state}
    require(not answered or hits == (said == "deleted"))
    return None if hits else state


def registration(state, operation, answered):
    """State: (the largest epoch granted, who is registered, under which epoch)."""
    largest, owner, current = state or (-1, None, None)
    said = operation.output["outcome"] if answered else None
    asked = operation.input or {}
    if operation.f == "register" and said != "duplicate":
        # A lost answer granted an epoch above all others, which nobody was told.
        epoch = operation.output["epoch"] if answered else largest + 0.5
        require(epoch > largest or (owner, current) == (asked["incarnation"], epoch))
        return (max(largest, epoch), asked["incarnation"], epoch)
    if operation.f == "register":
        require(owner not in {None, asked["incarnation"]})
    elif operation.f == "heartbeat":
        is_current = owner is not None and asked["epoch"] == current
        require(not answered or is_current == (said == "alive"))
    else:
        require(not answered or (owner is None) == (said == "absent"))
        return (largest, None, None)
    return state


def linearizable(apply: Apply, operations: Sequence[Operation], end: int = 1 << 60) -> bool:
    """Says whether some order of what was completed before an event explains every answer.

    What was then open may have taken effect, with the answer that it got later.
    """
    happened = [o for o in operations if o.status != "fail" and o.invoke_index < end]
    answered = [o for o in happened if o.status == "ok" and (o.complete_index or 0) < end]
    pending = [o for o in happened if o not in answered]
    return any(
        explains(apply, order, answered)
        for left_in in subsets(pending)
        for order in permutations([*answered, *left_in])
    )


def subsets(items: Sequence[Operation]) -> Iterator[list[Operation]]:
    for mask in range(1 << len(items)):
        yield [item for i, item in enumerate(items) if mask >> i & 1]


def explains(apply: Apply, order: Sequence[Operation], answered: Sequence[Operation]) -> bool:
    state = None
    latest_invocation = -1
    for operation in order:
        latest_invocation = max(latest_invocation, operation.invoke_index)
        if operation in answered and (operation.complete_index or 0) < latest_invocation:
            return False  # it was over before an operation that is ordered before it began
        try:
            state = apply(state, operation, operation.status == "ok")
        except IllegalError:
            return False
    return True
