"""Reads what operations on a log did: ["send", log, value] and ["poll", {log: [[offset, value]]}].

The form is that of Jepsen's Kafka tests: an operation's value is a list of such actions; a send
that succeeded answers ["send", log, [offset, value]]. Logs and values are JSON texts here. The
answer ["rebalance", [log, ...]] has the logs that the consumer got or lost in the operation.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.text import as_json


class Record(NamedTuple):
    """A value in a log, at its offset; None for an unknown offset."""

    log: str
    offset: int | None
    value: str


def require_actions(operation: Operation) -> None:
    """Raise ValueError if an operation's value is no list of sends and polls."""
    values = [operation.input]
    if operation.status == "ok":
        values.append(operation.output)
    for value in values:
        if not isinstance(value, list) or not all(map(_is_action, value)):
            wanted = '["send", log, value] or ["poll", {log: [[offset, value], ...]}]'
            raise ValueError(f"field value: {wanted} in a list is expected, not {as_json(value)}")
    if operation.status == "ok":
        _require_answers(operation)


def _require_answers(operation: Operation) -> None:
    for action in _actions(operation.output):
        if action[0] == "send" and not _is_record(action[2]):
            raise ValueError(f"field value: send answers [offset, value], not {as_json(action[2])}")


def sent(operation: Operation) -> Iterator[Record]:
    """Yield the records that an operation sent, with their reported offsets."""
    is_ok = operation.status == "ok"
    for action in _actions(operation.output if is_ok else operation.input):
        if action[0] == "send":
            offset, value = action[2] if is_ok else (None, action[2])
            yield Record(as_text(action[1]), offset, canonical(value))


def polled(operation: Operation) -> Iterator[Record]:
    """Yield the records that an operation polled, in order."""
    for action in _actions(operation.output) if operation.status == "ok" else ():
        if action[0] == "poll" and len(action) > 1:
            for log, records in (action[1] or {}).items():
                for offset, value in records:
                    yield Record(log, offset, canonical(value))


def rebalanced(operation: Operation) -> frozenset[str]:
    """Return the logs that the consumer of an operation got or lost while the operation ran."""
    actions = _actions(operation.output) if operation.status == "ok" else ()
    return frozenset(as_text(log) for one in actions if one[0] == "rebalance" for log in one[1])


def _actions(value: object) -> list[list]:  # type: ignore[type-arg]  # any JSON, validated
    assert isinstance(value, list)
    return value


def _is_action(action: object) -> bool:
    if not isinstance(action, list) or not action:
        return False
    if action[0] == "send":
        return len(action) == 3
    if action[0] == "rebalance":
        return len(action) == 2 and isinstance(action[1], list)
    return action[0] == "poll" and len(action) <= 2 and all(map(_is_answer, action[1:]))


def _is_answer(answer: object) -> bool:
    if answer is None:
        return True
    return isinstance(answer, dict) and all(
        isinstance(records, list) and all(map(_is_polled, records)) for records in answer.values()
    )


def _is_polled(record: object) -> bool:
    return isinstance(record, list) and _is_record(record) and record[0] is not None


def _is_record(record: object) -> bool:
    """Return whether something is [offset, value]; of a send the offset may not be known."""
    if not isinstance(record, list) or len(record) != 2:
        return False
    offset = record[0]
    return offset is None or (isinstance(offset, int) and not isinstance(offset, bool))
