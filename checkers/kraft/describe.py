"""What one broker tells of a topic over one connection (KIP-631, "Broker Metadata Management").

A broker answers from its own image, which follows the log and never goes back: a topic that a
connection has seen present and then absent was deleted, and an id is never used again. Not here:
that the answers are fresh (they need not be), and the controller's answers (they are linearizable).
An operation that fails or
stays indeterminate may have cost the connection, so the next one starts afresh: a broker that has
restarted may for a while show an older image.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from checkers.history import Operation
from checkers.verdict import Finding, FindingKind

MONOTONIC: Final = "topics/describe-monotonic"
IDS_UNIQUE: Final = "topics/ids-unique"
NOT_BEFORE_CREATE: Final = "topics/describe-not-before-create"


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What one connection has been told of one id."""

    was_present: bool = False
    gone_at: int | None = None


def came_back(operations: Iterable[Operation]) -> list[Finding]:
    """Finds topics that one process saw deleted and then present, among its operations in order."""
    findings: list[Finding] = []
    connections: dict[tuple[str | None, int], dict[str, _Seen]] = {}
    for operation in operations:
        connection = (operation.node, operation.process)
        if operation.status != "ok":
            connections.pop(connection, None)
            continue
        if operation.f != "describe":
            continue
        topic_id = described_id(operation)
        seen = connections.setdefault(connection, {}).setdefault(topic_id, _Seen())
        if not is_present(operation):
            if seen.was_present and seen.gone_at is None:
                seen.gone_at = operation.index
        elif seen.gone_at is not None:
            findings.append(_came_back_finding(operation, seen.gone_at))
        else:
            seen.was_present = True
    return findings


def _came_back_finding(operation: Operation, gone_at: int) -> Finding:
    return Finding(
        check=MONOTONIC,
        kind=FindingKind.SAFETY,
        key=operation.key,
        operation_index=operation.index,
        sentence=(
            f"broker {operation.node} showed topic {operation.key} ({described_id(operation)})"
            f" again in operation {operation.index} after showing it deleted in operation {gone_at}"
            " to the same process"
        ),
    )


def shown_before_create(operations: Sequence[Operation]) -> list[Finding]:
    """Finds topics of one name that were shown before the create that made them was invoked."""
    told = {
        created: operation.invoke_index
        for operation in operations
        if (created := created_id(operation)) is not None
    }
    untold = [
        operation.invoke_index
        for operation in operations
        if operation.f == "create" and operation.status == "info"
    ]
    first_untold = min(untold, default=None)
    findings = []
    for operation in operations:
        if operation.f != "describe" or operation.status != "ok" or not is_present(operation):
            continue
        created_at = told.get(described_id(operation), first_untold)
        assert operation.complete_index is not None
        if created_at is None or operation.complete_index < created_at:
            findings.append(_before_create_finding(operation))
    return findings


def ids_given_twice(operations: Iterable[Operation]) -> list[Finding]:
    """Finds topic ids that more than one create was given, among all creates of a run."""
    first: dict[str, Operation] = {}
    findings = []
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is None:
            continue
        other = first.setdefault(topic_id, operation)
        if other is not operation:
            findings.append(
                Finding(
                    check=IDS_UNIQUE,
                    kind=FindingKind.SAFETY,
                    key=operation.key,
                    operation_index=operation.index,
                    sentence=(
                        f"topic id {topic_id} was given to {operation.key} in operation"
                        f" {operation.index} and before to {other.key} in operation {other.index}"
                    ),
                )
            )
    return findings


def _before_create_finding(operation: Operation) -> Finding:
    return Finding(
        check=NOT_BEFORE_CREATE,
        kind=FindingKind.SAFETY,
        key=operation.key,
        operation_index=operation.index,
        sentence=(
            f"broker {operation.node} showed topic {operation.key} ({described_id(operation)})"
            f" in operation {operation.index} before any create that can have made it was invoked"
        ),
    )


def described_id(operation: Operation) -> str:
    """Returns the topic id that a describe asks for."""
    assert isinstance(operation.input, dict)
    return str(operation.input["id"])


def is_present(operation: Operation) -> bool:
    """Says whether a describe was answered that the topic is there."""
    return isinstance(operation.output, dict) and operation.output.get("outcome") == "present"


def created_id(operation: Operation) -> str | None:
    """Returns the id that an answered create was given."""
    if operation.f != "create" or not isinstance(operation.output, dict):
        return None
    topic_id = operation.output.get("id")
    return topic_id if operation.status == "ok" and isinstance(topic_id, str) else None
