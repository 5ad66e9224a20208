"""Delegation tokens: created, renewed, expired, described, and used in logins (KIP-48).

One token a key. The times of a token are of the wall clock, which faults may bend, so the rules
compare the times in the answers with each other only. A refused login proves nothing: the token
may have expired. See cluster/simulated/invariants/security/logins.py for the clock of the broker.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.checkers.findings import finding_of
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

CHANGES: Final = frozenset({"create", "renew", "expire", "remove"})
LOGINS: Final = frozenset({"login", "final"})
MAXIMUM: Final = "tokens/maximum"


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `create`: the times of the token in milliseconds of the wall clock."""

    issued: int
    expiry: int
    maximum: int


class Creation(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `create`: the longest life of the token in milliseconds."""

    lifetime: int


class Expiry(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `renew` and `expire`."""

    expiry: int


class LoggedIn(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `login` and `final`."""

    accepted: bool


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `describe`: the times of the token; None without the token."""

    expiry: int | None
    maximum: int | None = None


class _State(msgspec.Struct, frozen=True):
    """The token; `expiry` is None where the answer of the change is not known."""

    exists: bool
    expiry: int | None = None
    maximum: int | None = None


_ABSENT: Final = _State(exists=False)


class Tokens(PropertyModel):
    """Delegation tokens."""

    name = "tokens"
    no_initial_value = "a token begins with its create: record the create in the history"
    functions = frozenset({"prepare", "await", "describe", *CHANGES, *LOGINS})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        form = _FORMS.get(operation.f)
        if form is not None and operation.status == "ok":
            read_as(f"{operation.f} answers", operation.output, form)
        if operation.f == "create":
            read_as("create takes", operation.input, Creation)

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        del options
        changes = [one for one in operations if one.f in CHANGES]
        versions = versions_of(_ABSENT, changes, _changed)
        answered = [one for one in operations if one.status == "ok"]
        asked = [one for one in answered if one.f in LOGINS or one.f == "describe"]
        return [
            *_times(key, answered),
            *judge(self.name, key, versions, [_answer(one) for one in asked]),
        ]


_FORMS: Final[dict[str, type[msgspec.Struct]]] = {
    "create": Token,
    "renew": Expiry,
    "expire": Expiry,
    "login": LoggedIn,
    "final": LoggedIn,
    "describe": Described,
}


def _changed(state: _State, operation: Operation) -> _State:
    is_known = operation.status == "ok"
    match operation.f:
        case "create" if is_known:
            made = msgspec.convert(operation.output, Token)
            return _State(exists=True, expiry=made.expiry, maximum=made.maximum)
        case "create":
            return _State(exists=True)
        case "remove":
            return _ABSENT
        case _:
            expiry = msgspec.convert(operation.output, Expiry).expiry if is_known else None
            return _State(exists=True, expiry=expiry, maximum=state.maximum)


def _answer(operation: Operation) -> Answer[_State]:
    if operation.f == "describe":
        shown = msgspec.convert(operation.output, Described)
        return Answer(
            operation,
            lambda state: _is_shown(state, shown),
            f"describes a token that expires at {shown.expiry}",
        )
    told = msgspec.convert(operation.output, LoggedIn)
    verb = "accepts" if told.accepted else "refuses"
    return Answer(
        operation,
        lambda state: state.exists or not told.accepted,
        f"{verb} the token",
        is_final=operation.f == "final",
    )


def _is_shown(state: _State, shown: Described) -> bool:
    """Return whether a description fits; a sweep may have removed a token that has expired."""
    if shown.expiry is None:
        return True
    return state.exists and state.expiry in {None, shown.expiry}


def _times(key: str, answered: Sequence[Operation]) -> list[Finding]:
    """Judge the times in the answers of the controller."""
    maximum: int | None = None
    found: list[Finding] = []
    for operation in answered:
        if operation.f == "create":
            made = msgspec.convert(operation.output, Token)
            asked = msgspec.convert(operation.input, Creation)
            maximum = made.maximum
            if made.maximum > made.issued + asked.lifetime:
                found.append(_wrong(key, operation, f"lives longer than {asked.lifetime} ms"))
            if not made.issued <= made.expiry <= made.maximum:
                found.append(_wrong(key, operation, "expires beyond its maximum"))
        elif operation.f in {"renew", "expire"} and maximum is not None:
            expiry = msgspec.convert(operation.output, Expiry).expiry
            if expiry > maximum:
                found.append(_wrong(key, operation, f"expires at {expiry}, beyond {maximum}"))
    return found


def _wrong(key: str, operation: Operation, reason: str) -> Finding:
    fact = f"the token {key} {reason} after {operation.f}"
    return finding_of(MAXIMUM, key, operation, fact, "the maximum of a token never moves")
