"""What a history proves of one topic id (KIP-631, "Topic Identifiers": an id is given once).

When it was made, when it can have been removed, and when it was surely gone: from the answers of
the active controller, which are linearizable. Places are indexes of events. Not here: what brokers
say of the topic (`checkers.kraft.describe`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checkers.history import Operation
from checkers.kraft.registrations import NEVER


@dataclass(slots=True, kw_only=True)
class TopicFacts:
    """One topic id that an answered create was given.

    Attributes:
        create: that create.
        may_go_at: the first event from which a delete can have removed it.
        gone: the first operation to complete of those that prove it removed, None if none does.
    """

    create: Operation
    may_go_at: int = NEVER
    gone: Operation | None = None

    def is_made_before(self, event: int) -> bool:
        """Says whether it surely was there, if not removed since, when the event happened."""
        return ended_at(self.create) < event

    def is_gone_before(self, event: int) -> bool:
        """Says whether it surely was removed, for good, when the event happened."""
        return self.gone is not None and ended_at(self.gone) < event


def facts_of(operations: Iterable[Operation]) -> dict[str, TopicFacts]:
    """Returns the facts about every topic id that a create was given, in invocation order."""
    by_key: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.f != "describe" and operation.status != "fail":
            by_key.setdefault(operation.key, []).append(operation)
    facts: dict[str, TopicFacts] = {}
    for of_key in by_key.values():
        for operation in of_key:
            topic_id = created_id(operation)
            if topic_id is not None:
                facts.setdefault(topic_id, _facts(topic_id, operation, of_key))
    return facts


def _facts(topic_id: str, create: Operation, of_key: Sequence[Operation]) -> TopicFacts:
    facts = TopicFacts(create=create)
    for operation in of_key:
        if _may_remove(operation, topic_id) and ended_at(operation) > create.invoke_index:
            facts.may_go_at = min(facts.may_go_at, operation.invoke_index)
    proofs = (
        operation
        for operation in of_key
        if operation.invoke_index > ended_at(create) and _proves_removed(operation, topic_id)
    )
    facts.gone = min(proofs, key=ended_at, default=None)
    return facts


def _may_remove(operation: Operation, topic_id: str) -> bool:
    is_asked = operation.f == "delete" and asked_id(operation) in {None, topic_id}
    return is_asked and outcome_of(operation) in {None, "deleted"}


def _proves_removed(operation: Operation, topic_id: str) -> bool:
    """Says whether the answer, to what was asked after the create, needs the topic removed."""
    outcome = outcome_of(operation)
    if operation.f == "create":
        return outcome == "created"
    if operation.f == "lookup":
        return outcome == "absent"
    return outcome in {"deleted", "absent"} and asked_id(operation) in {None, topic_id}


def ended_at(operation: Operation) -> int:
    """Returns the event from which on an operation can't take effect any more."""
    if operation.status == "info" or operation.complete_index is None:
        return NEVER
    return operation.complete_index


def outcome_of(operation: Operation) -> object:
    """Returns what was answered, None if that is not known."""
    if operation.status != "ok" or not isinstance(operation.output, dict):
        return None
    return operation.output.get("outcome")


def asked_id(operation: Operation) -> object:
    """Returns the topic id that was asked for, None if it was asked for by name."""
    return operation.input.get("id") if isinstance(operation.input, dict) else None


def created_id(operation: Operation) -> str | None:
    """Returns the id that an answered create was given."""
    if operation.f != "create" or not isinstance(operation.output, dict):
        return None
    topic_id = operation.output.get("id")
    return topic_id if operation.status == "ok" and isinstance(topic_id, str) else None
