"""Formats operations with their arguments, and with answers that carry information."""

from collections.abc import Collection, Iterable

import msgspec

from kraftproof.checkers.explain.explanation import OperationView
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import without_middle


def answering(operations: Iterable[Operation]) -> frozenset[str]:
    """Return the functions whose answers carry information.

    For these functions, null is an answer.
    """
    return frozenset(
        one.f
        for one in operations
        if one.status == "ok" and one.output is not None and _is_news(one)
    )


def format_operation(operation: Operation, answers: Collection[str]) -> str:
    """Return an operation as: cas [1,2], or: read -> 5.

    Args:
        operation: the operation.
        answers: the functions whose answers count.
    """
    parts = [operation.f]
    if operation.input is not None:
        parts.append(_shown(operation.input))
    is_answered = operation.status == "ok" and operation.f in answers
    is_echo = isinstance(operation.output, list) and not _is_news(operation)
    if is_answered and not is_echo:  # a transaction that only writes answers what it was asked
        parts.append(f"-> {_shown(operation.output)}")
    return " ".join(parts)


def operation_view(operation: Operation, answers: Collection[str]) -> OperationView:
    """Return an operation in the form used by explanations."""
    return OperationView(
        index=operation.index,
        process=operation.process,
        node=operation.node,
        f=operation.f,
        input=operation.input,
        output=operation.output,
        status=operation.status,
        invoke_index=operation.invoke_index,
        complete_index=operation.complete_index,
        error=operation.error,
        text=format_operation(operation, answers),
    )


def _is_news(operation: Operation) -> bool:
    """Return whether an answer is other than the question; true is not 1 here."""
    asked, answered = operation.input, operation.output
    return type(asked) is not type(answered) or asked != answered


def _shown(value: object) -> str:
    return without_middle(msgspec.json.encode(value).decode())
