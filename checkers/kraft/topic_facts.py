"""The facts that a history proves of a topic id (KIP-631: an id is given once).

The times of a topic's creation, its earliest removal and its sure removal, from the answers of the
active controller, which are linearizable. Places are indexes of events. Not here: what brokers say
of the topic (`checkers.kraft.describe`).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.registrations import NEVER

_Event = Callable[[Operation], int]
"""One of the two events of an operation."""


@dataclass(slots=True, kw_only=True)
class TopicFacts:
    """A topic id that an answered create received.

    Attributes:
        create: that create.
        may_go_at: the first event from which a delete can have removed it.
        gone: the first operation to complete that proves the topic removed, None without a proof.
    """

    create: Operation
    may_go_at: int = NEVER
    gone: Operation | None = None

    def is_made_before(self, event: int) -> bool:
        """Return whether it surely was there, if not removed since, when the event happened."""
        return ended_at(self.create) < event

    def is_gone_before(self, event: int) -> bool:
        """Return whether it surely was removed, for good, when the event happened."""
        return self.gone is not None and ended_at(self.gone) < event


def facts_of(operations: Iterable[Operation]) -> dict[str, TopicFacts]:
    """Return the facts about every topic id that a create was given, in invocation order."""
    by_key: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.f != "describe" and operation.status != "fail":
            by_key.setdefault(operation.key, []).append(operation)
    facts: dict[str, TopicFacts] = {}
    for of_key in by_key.values():
        removals = _ByAsked(one for one in of_key if _may_remove(one))
        proofs = _ByAsked(one for one in of_key if _proves_removed(one))
        for operation in of_key:
            topic_id = created_id(operation)
            if topic_id is not None:
                facts.setdefault(topic_id, _facts(topic_id, operation, removals, proofs))
    return facts


class _ByAsked:
    """The operations on one name by the requested id; operations without an id under None.

    Each list is sorted for two questions, so that all ids of a name take O(n log n) together.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        by_id: dict[object, list[Operation]] = {}
        for operation in operations:
            by_id.setdefault(asked_id(operation), []).append(operation)
        self._by_end = {each: _Suffixes(some, ended_at, _invoked) for each, some in by_id.items()}
        self._by_start = {each: _Suffixes(some, _invoked, ended_at) for each, some in by_id.items()}

    def first_invoked(self, topic_id: str, after: int) -> Operation | None:
        """Return the first to be invoked of those that may take effect after an event."""
        return _least((self._by_end.get(each) for each in (None, topic_id)), after, _invoked)

    def first_over(self, topic_id: str, after: int) -> Operation | None:
        """Return the first to be over of those that were invoked after an event."""
        return _least((self._by_start.get(each) for each in (None, topic_id)), after, ended_at)


class _Suffixes:
    """Operations sorted by one event, and the least by another of each suffix."""

    def __init__(self, operations: Iterable[Operation], by: _Event, least: _Event) -> None:
        ordered = sorted(operations, key=by)
        self._events = [by(operation) for operation in ordered]
        self._smallest: list[Operation] = []
        for operation in reversed(ordered):
            self._smallest.append(min([operation, *self._smallest[-1:]], key=least))
        self._smallest.reverse()

    def after(self, event: int) -> Operation | None:
        place = bisect_right(self._events, event)
        return self._smallest[place] if place < len(self._smallest) else None


def _least(some: Iterable[_Suffixes | None], after: int, by: _Event) -> Operation | None:
    found = [one for each in some if each is not None and (one := each.after(after)) is not None]
    return min(found, key=by, default=None)


def _invoked(operation: Operation) -> int:
    return operation.invoke_index


def _facts(topic_id: str, create: Operation, removals: _ByAsked, proofs: _ByAsked) -> TopicFacts:
    removal = removals.first_invoked(topic_id, create.invoke_index)
    return TopicFacts(
        create=create,
        may_go_at=NEVER if removal is None else removal.invoke_index,
        gone=proofs.first_over(topic_id, ended_at(create)),
    )


def _may_remove(operation: Operation) -> bool:
    return operation.f == "delete" and outcome_of(operation) in {None, "deleted"}


def _proves_removed(operation: Operation) -> bool:
    """Return whether the answer, to what was asked after the create, needs the topic removed."""
    outcome = outcome_of(operation)
    if operation.f == "create":
        return outcome == "created"
    if operation.f == "lookup":
        return outcome == "absent"
    return outcome in {"deleted", "absent"}


def ended_at(operation: Operation) -> int:
    """Return the event from which on an operation can't take effect any more."""
    if operation.status == "info" or operation.complete_index is None:
        return NEVER
    return operation.complete_index


def outcome_of(operation: Operation) -> object:
    """Return the answer, None if unknown."""
    if operation.status != "ok" or not isinstance(operation.output, dict):
        return None
    return operation.output.get("outcome")


def asked_id(operation: Operation) -> object:
    """Return the requested topic id, None for a request by name."""
    return operation.input.get("id") if isinstance(operation.input, dict) else None


def created_id(operation: Operation) -> str | None:
    """Return the id that an answered create was given."""
    if operation.f != "create" or not isinstance(operation.output, dict):
        return None
    topic_id = operation.output.get("id")
    return topic_id if operation.status == "ok" and isinstance(topic_id, str) else None
