"""The SCRAM credential of a user: set, removed, described, and used in logins (KIP-554).

A login succeeds exactly with the password of the credential that the broker knows. The client sees
the number of iterations, which must be the committed number.
"""

from collections.abc import Sequence
from typing import Final

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

CHANGES: Final = frozenset({"set", "remove"})
LOGINS: Final = frozenset({"login", "final"})


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `set`: the new password and its iterations."""

    password: str
    iterations: int


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `login` and `final`."""

    password: str


class LoggedIn(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `login` and `final`."""

    accepted: bool
    iterations: int | None = None
    """The iterations that the broker named; None if the broker refused at once."""


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `describe`: the iterations; None without a credential."""

    iterations: int | None


class Credentials(PropertyModel):
    """The credentials of users."""

    name = "credentials"
    no_initial_value = "a user begins without a credential: record the set in the history"
    functions = frozenset({"prepare", "await", "describe", *CHANGES, *LOGINS})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "set":
            read_as("set takes", operation.input, Credential)
        elif operation.f in LOGINS:
            read_as(f"{operation.f} takes", operation.input, Login)
            if operation.status == "ok":
                read_as(f"{operation.f} answers", operation.output, LoggedIn)
        elif operation.f == "describe" and operation.status == "ok":
            read_as("describe answers", operation.output, Described)

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        del options
        changes = [one for one in operations if one.f in CHANGES]
        versions = versions_of(None, changes, _changed)
        asked = [one for one in operations if one.f in LOGINS or one.f == "describe"]
        answered = [one for one in asked if one.status == "ok"]
        return judge(self.name, key, versions, [_answer(one) for one in answered])


def _changed(_: Credential | None, operation: Operation) -> Credential | None:
    return msgspec.convert(operation.input, Credential) if operation.f == "set" else None


def _answer(operation: Operation) -> Answer[Credential | None]:
    if operation.f == "describe":
        shown = msgspec.convert(operation.output, Described).iterations
        return Answer(
            operation,
            lambda known: (None if known is None else known.iterations) == shown,
            f"describes a credential with {shown} iterations",
        )
    asked = msgspec.convert(operation.input, Login)
    told = msgspec.convert(operation.output, LoggedIn)

    def agrees(known: Credential | None) -> bool:
        if known is None:
            return not told.accepted
        is_seen = told.iterations in {None, known.iterations}
        return is_seen and told.accepted == (known.password == asked.password)

    verb = "accepts" if told.accepted else "refuses"
    return Answer(
        operation,
        agrees,
        f"{verb} the password {asked.password} with {told.iterations} iterations",
        is_final=operation.f == "final",
    )
