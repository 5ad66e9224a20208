"""Access control entries of a name: granted and revoked, and asked about as users (KIP-801).

A key is a name of its own: the entries and the questions of the key name topics that begin with
the key. A denial precedes every permission; a permission to alter includes a description.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from typing_extensions import override

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.models.administration.single_writer import (
    Answer,
    judge,
    read_as,
    versions_of,
)
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Finding

QUESTIONS: Final = frozenset({"ask", "final"})
CHANGES: Final = frozenset({"grant", "revoke"})
EVERYBODY: Final = "*"
IMPLIED: Final = {
    "describe": frozenset({"describe", "alter", "all"}),
    "describe-configs": frozenset({"describe-configs", "all"}),
    "alter": frozenset({"alter", "all"}),
}
"""The operations whose permission allows a question."""
OF_CONTROLLER: Final = frozenset({"alter"})
"""The questions that the controller answers."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `grant` and `revoke`: one access control entry of a topic."""

    user: str
    operation: str
    permission: Literal["allow", "deny"]
    pattern: Literal["literal", "prefixed"]
    topic: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `ask` and `final`: a request of a user about a topic."""

    user: str
    operation: Literal["describe", "describe-configs", "alter"]
    topic: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ask` and `final`."""

    allowed: bool


Entries = frozenset[Entry]
NO_ENTRIES: Final[Entries] = frozenset()


def is_allowed(entries: Entries, question: Question) -> bool:
    """Return whether the entries allow a request."""
    matching = [entry for entry in entries if _matches(entry, question)]
    if any(
        entry.permission == "deny" and entry.operation in {question.operation, "all"}
        for entry in matching
    ):
        return False
    allowing = IMPLIED[question.operation]
    return any(entry.permission == "allow" and entry.operation in allowing for entry in matching)


def _matches(entry: Entry, question: Question) -> bool:
    if entry.user not in {question.user, EVERYBODY}:
        return False
    if entry.pattern == "prefixed":
        return question.topic.startswith(entry.topic)
    return question.topic == entry.topic


class Acls(PropertyModel):
    """The access control entries of names."""

    name = "acls"
    no_initial_value = "a name begins without entries: record the grants in the history"
    functions = frozenset({"prepare", "await", *CHANGES, *QUESTIONS})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f in CHANGES:
            read_as(f"{operation.f} takes", operation.input, Entry)
        elif operation.f in QUESTIONS:
            read_as(f"{operation.f} takes", operation.input, Question)
            if operation.status == "ok":
                read_as(f"{operation.f} answers", operation.output, Told)

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        del options
        changes = [one for one in operations if one.f in CHANGES]
        versions = versions_of(NO_ENTRIES, changes, _changed)
        answers = [_answer(one) for one in operations if one.f in QUESTIONS and one.status == "ok"]
        return judge(self.name, key, versions, answers)


def _changed(entries: Entries, operation: Operation) -> Entries:
    entry = msgspec.convert(operation.input, Entry)
    return entries | {entry} if operation.f == "grant" else entries - {entry}


def _answer(operation: Operation) -> Answer[Entries]:
    question = msgspec.convert(operation.input, Question)
    told = msgspec.convert(operation.output, Told)
    verb = "allows" if told.allowed else "refuses"
    return Answer(
        operation,
        lambda entries: is_allowed(entries, question) == told.allowed,
        f"{verb} {question.operation} of {question.topic} to {question.user}",
        is_newest=question.operation in OF_CONTROLLER,
        is_final=operation.f == "final",
    )
