"""Explains why a transaction cannot have read a value from a register.

See `checkers.models.multi_register` for the model, which decides; every sentence here is certain.
"""

from collections.abc import Collection, Sequence
from functools import partial

from kraftproof.checkers.calls.transactions import Action, actions_of, initial_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.reasons import Values, may_count
from kraftproof.checkers.models.starting import plain_name
from kraftproof.checkers.text import shortened


def register_reason(
    operations: Sequence[Operation], wrong: Operation, nulls: Collection[str]
) -> str | None:
    """Return why a transaction cannot have read a value; None without an obvious reason.

    Args: operations: all operations of the key.
        wrong: the first illegal transaction.
        nulls: the registers with initial value null, as JSON; the other registers begin with 0.
    """
    held: dict[str, tuple[str, str]] = {}
    for action, register, value in _actions_of(wrong):
        said, own = held.get(register, ("", value))
        named = _named(register)
        if action == "read" and own != value:
            what = f"{said} {shortened(own)} in the same transaction before"
            return f"it read {shortened(value)} from {named}, and {what}"
        if action == "read" and not said:
            reason = _not_held(operations, wrong, (register, value), nulls)
            if reason is not None:
                return f"it read {shortened(value)} from {named}: {reason}"
        held[register] = ("wrote" if action == "write" else said or "read", value)
    return None


def _not_held(
    operations: Sequence[Operation],
    wrong: Operation,
    found: tuple[str, str],
    nulls: Collection[str],
) -> str | None:
    """Return why a register can't have held a value when a transaction began."""
    register, value = found
    initial = initial_of(frozenset(nulls), register)
    passing = [
        one
        for one in operations
        if one is not wrong and may_count(one, wrong) and ("write", *found) in _actions_of(one)
    ]
    if passing and value != initial and all(_left(register, one) != value for one in passing):
        one = passing[0]
        return f"transaction {one.index} wrote that and overwrote it before it was over"
    name = plain_name(register)
    values = Values(
        sets=partial(_left, register),
        finds=partial(_found, register),
        initial=initial,
        place=f"in {_named(register)}",
        option=f"{name}=",
    )
    return values.reason(operations, wrong, value)


def _left(register: str, operation: Operation) -> str | None:
    """Return the last value that a transaction writes to a register; None without a write."""
    written = [
        value for f, name, value in _actions_of(operation) if (f, name) == ("write", register)
    ]
    return written[-1] if written else None


def _found(register: str, operation: Operation) -> str | None:
    """Return the value that a completed transaction read before it wrote; None without one."""
    if operation.status != "ok":
        return None
    first = next((one for one in _actions_of(operation) if one[1] == register), None)
    return None if first is None or first[0] != "read" else first[2]


def _actions_of(operation: Operation) -> list[Action]:
    is_answered = operation.status == "ok"
    return actions_of(operation.output if is_answered else operation.input, is_answered=is_answered)


def _named(register: str) -> str:
    return f"register {shortened(plain_name(register))}"
