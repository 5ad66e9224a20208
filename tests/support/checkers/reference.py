"""A second opinion: linearizability by trying every order, written straight from the definition.

It shares no code with `checkers.engines` or `checkers.models`: each model is said here once more,
as plain Python on the values of the operations. Only for a handful of operations.
"""

from collections.abc import Callable, Sequence
from typing import Any

from kraftproof.checkers.history.operations import Operation

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


def bank(*, allows_negative):
    """State: (the balances or None while no read told them, the transfers until then)."""

    def moved(balances, transfer, sign=1):
        source, target, amount = transfer["from"], transfer["to"], transfer["amount"] * sign
        require({source, target} <= balances.keys())
        changed = dict(balances)
        changed[source] -= amount
        changed[target] += amount
        return changed

    def possible(balances):
        require(allows_negative or min(balances.values()) >= 0)
        return balances

    def apply(state, operation, answered):
        balances, transfers = state or (None, [])
        if operation.f == "transfer":
            if balances is None:
                return (None, [*transfers, operation.input])
            return (possible(moved(balances, operation.input)), [])
        if not answered:
            return state
        if balances is not None:
            require(balances == operation.output)
            return state
        earlier = possible(operation.output)
        for transfer in reversed(transfers):
            earlier = possible(moved(earlier, transfer, -1))
        return (operation.output, [])

    return apply


def mutex(state, operation, answered):
    require(bool(state) == (operation.f == "release"))
    return operation.f == "acquire"


def container(place):
    """A container whose `place` says which of its elements, a list as they came, goes next."""

    def apply(state, operation, answered):
        elements = list(state or [])
        if operation.f in {"enqueue", "push", "insert"}:
            return [*elements, operation.input]
        taken = elements.pop(place(elements)) if elements else None
        require(not answered or taken == operation.output)
        return elements

    return apply


queue = container(lambda elements: 0)
stack = container(lambda elements: -1)
priority_queue = container(lambda elements: elements.index(min(elements)))


def counter(state, operation, answered):
    total = (state or 0) + (0 if operation.f == "read" else operation.input)
    require(not answered or operation.f == "add" or operation.output == total)
    return total


def list_append(state, operation, answered):
    lists = {name: list(elements) for name, elements in (state or {}).items()}
    for f, name, value in actions_on_lists(operation, answered):
        held = lists.setdefault(name, [])
        if f == "append":
            held.append(value)
        else:
            require(not answered or held == (value or []))
    return lists


def actions_on_lists(operation, answered):
    if operation.f == "append":
        return [("append", None, operation.input)]
    if operation.f == "read":
        return [("r", None, operation.output)]
    return operation.output if answered else operation.input


def a_set(state, operation, answered):
    elements = list(state or [])
    if operation.f == "add":
        return elements if operation.input in elements else [*elements, operation.input]
    if operation.f == "remove":
        return [element for element in elements if element != operation.input]
    if operation.f == "contains":
        require(not answered or (operation.input in elements) == operation.output)
    else:
        require(not answered or sorted(operation.output or []) == sorted(elements))
    return elements


def fencing_lock(state, operation, answered):
    alive, largest = state or (None, -1)
    if operation.f == "lock":
        if not answered:
            return (None, largest)  # whoever held it holds it no more, and nobody was told who does
        require(operation.output > largest)
        return (operation.output, operation.output)
    if operation.f == "use" and (operation.output is True or not answered):
        require(not answered or operation.input == alive)
        return state
    return (None if operation.input == alive else alive, largest)


def a_map(state, operation, answered):
    if operation.f == "get":
        require(not answered or state == operation.output)
        return state
    return operation.input if operation.f == "put" else None


def append_log(state, operation, answered):
    """State: [(offset or None if nobody was told it, value, offsets that it can't have)]."""
    records = list(state or [])
    if operation.f == "produce":
        offset = operation.output if answered else None
        known = [record[0] for record in records if record[0] is not None]
        require(offset is None or not known or offset > max(known))
        return [*records, (offset, operation.input, frozenset())]
    if not answered:
        return state
    at, value = operation.input, operation.output
    held = {offset: told for offset, told, _ in records}
    if at in held or value is None:
        require(held.get(at) == value)
        return [(offset, told, barred | {at}) for offset, told, barred in records]
    for place, (offset, told, barred) in enumerate(records):
        before = [record[0] for record in records[:place] if record[0] is not None]
        after = [record[0] for record in records[place + 1 :] if record[0] is not None]
        fits = at > max(before, default=-1) and at < min(after, default=at + 1)
        if offset is None and told == value and at not in barred and fits:
            return [*records[:place], (at, told, barred), *records[place + 1 :]]
    raise IllegalError


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
    hits = state is not None and topic_id in (None, state)
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
        require(owner is None or said != "absent")
        return (largest, None, None)
    return state


def versioned_register(state, operation, answered):
    """State: (value, version)."""
    value, version = state or (None, 0)
    if operation.f == "get":
        require(not answered or operation.output == [value, version])
        return (value, version)
    asked = operation.input
    if operation.f == "set-if":
        require(asked[0] == version)
        asked = asked[1]
    require(not answered or operation.output == version + 1)
    return (asked, version + 1)


def linearizable(
    apply: Apply, operations: Sequence[Operation], end: int = 1 << 60, initial: State = None
) -> bool:
    """Says whether some order of what was completed before an event explains every answer.

    What was then open may have taken effect, with the answer that it got later. Every order is
    tried; two that have done the same operations and left the same state are one from there on.
    """
    happened = [o for o in operations if o.status != "fail" and o.invoke_index < end]
    over = [_over(o, end) for o in happened]
    tried: set[tuple[frozenset[int], str]] = set()

    def explains(left: frozenset[int], state: State) -> bool:
        first_over = min((over[one] for one in left), default=end)
        if first_over >= end:
            return True
        for one in left:
            if happened[one].invoke_index > first_over:
                continue  # something was over before it began, and has to come first
            try:
                after = apply(state, happened[one], happened[one].status == "ok")
            except IllegalError:
                continue
            rest = left - {one}
            if (place := (rest, repr(after))) not in tried:
                tried.add(place)
                if explains(rest, after):
                    return True
        return False

    return explains(frozenset(range(len(happened))), initial)


def find_first_illegal(apply: Apply, operations: Sequence[Operation]) -> Operation | None:
    """Returns the first completed operation by whose completion no order explains the answers."""
    if linearizable(apply, operations):
        return None
    completed = sorted(
        (o for o in operations if o.status == "ok"), key=lambda o: o.complete_index or 0
    )
    return next(o for o in completed if not linearizable(apply, operations, _over(o, 1 << 60) + 1))


def _over(operation: Operation, end: int) -> int:
    """Returns the event of its completion; the end itself where it was never over by then."""
    is_answered = operation.status == "ok" and operation.complete_index is not None
    return min(operation.complete_index, end) if is_answered else end
