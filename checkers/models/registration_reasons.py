"""Explains why a registration of a broker id cannot have had its answer.

Epochs only grow, and only a register or an unregister ends a registration. See
`checkers.models.registration` for the model, which decides; every sentence here is certain.
"""

from collections.abc import Callable, Mapping, Sequence

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.reasons import end_of, is_over, may_count
from kraftproof.checkers.text import shortened


def registration_reason(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why an operation cannot have had its answer; None without an obvious reason."""
    others = [one for one in operations if one is not wrong and may_count(one, wrong)]
    rule = _RULES.get(str(_field(wrong.output, "outcome")))
    return None if rule is None else rule(others, wrong)


def _registered(others: Sequence[Operation], wrong: Operation) -> str | None:
    """Explain an epoch that is not greater than an earlier epoch."""
    epoch, who = _epoch(wrong), _field(wrong.input, "incarnation")
    for one in others:
        given = _given(one)
        is_same = (given, _field(one.input, "incarnation")) == (epoch, who)
        if given is not None and is_over(one, wrong) and given >= epoch and not is_same:
            return f"{_named(one)} had been given epoch {given} before it began: epochs only grow"
    return None


def _duplicate(others: Sequence[Operation], wrong: Operation) -> str | None:
    """Another incarnation was said to be registered."""
    who = _field(wrong.input, "incarnation")
    if any(_may_register(one) and _field(one.input, "incarnation") != who for one in others):
        return None
    return "no other incarnation had begun to register by then"


def _alive(others: Sequence[Operation], wrong: Operation) -> str | None:
    """A heartbeat was accepted for an epoch."""
    epoch = _epoch(wrong)
    makers = [one for one in others if _may_register(one)]
    if all(one.status == "ok" and _given(one) != epoch for one in makers):
        return f"no register had been given epoch {epoch} by then"
    for one in others:
        given = _given(one)
        if given is not None and given > epoch and is_over(one, wrong):
            return f"{_named(one)} had been given epoch {given} before it began"
    return None


def _stale(others: Sequence[Operation], wrong: Operation) -> str | None:
    """A heartbeat was refused for an epoch."""
    holder = _holder(others, wrong)
    if holder is None or _given(holder) != _epoch(wrong):
        return None
    given = f"{_named(holder)} had been given epoch {_given(holder)} before it began"
    return f"{given} and neither a register nor an unregister had begun since"


def _absent(others: Sequence[Operation], wrong: Operation) -> str | None:
    """Nobody was said to be registered."""
    holder = _holder(others, wrong)
    if holder is None:
        return None
    return f"{_named(holder)} had succeeded before it began and no unregister had begun since"


_RULES: Mapping[str, Callable[[Sequence[Operation], Operation], str | None]] = {
    "registered": _registered,
    "duplicate": _duplicate,
    "alive": _alive,
    "stale": _stale,
    "absent": _absent,
}


def _holder(others: Sequence[Operation], wrong: Operation) -> Operation | None:
    """Return the last register after which the registration surely stayed unchanged."""
    changes = [one for one in others if _may_register(one) or _may_unregister(one)]
    for one in changes:
        is_last = all(other is one or end_of(other) < one.invoke_index for other in changes)
        if _given(one) is not None and is_over(one, wrong) and is_last:
            return one
    return None


def _may_register(operation: Operation) -> bool:
    return operation.f == "register" and (operation.status != "ok" or _given(operation) is not None)


def _may_unregister(operation: Operation) -> bool:
    is_done = _field(operation.output, "outcome") == "unregistered"
    return operation.f == "unregister" and (operation.status != "ok" or is_done)


def _given(operation: Operation) -> int | None:
    """Return the epoch that a register received; None without an answer."""
    if operation.f != "register" or operation.status != "ok":
        return None
    epoch = _field(operation.output, "epoch")
    return epoch if isinstance(epoch, int) else None


def _epoch(operation: Operation) -> int:
    """Return the epoch that an operation names, or was given."""
    observed = _field(operation.output, "epoch")
    epoch = observed if observed is not None else _field(operation.input, "epoch")
    assert isinstance(epoch, int), "validated"
    return epoch


def _named(operation: Operation) -> str:
    who = shortened(str(_field(operation.input, "incarnation")))
    return f"register of incarnation {who} (operation {operation.index})"


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
