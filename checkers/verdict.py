"""Verdicts, findings, and how several verdicts make one.

Not here: how a verdict is reached (`checkers.engines`, `checkers.kraft`) or how it is shown. The
rules are DESIGN.md's: invalid beats unknown beats valid, unknown is never a pass, slow is not
wrong.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

UNKNOWN_KEYS_ALLOWED: Final = 0.01
"""The share of keys without a verdict above which a whole run has none."""

USAGE_ERROR_EXIT_CODE: Final = 3


class Verdict(StrEnum):
    """What a check says; `unknown` stands between the other two."""

    VALID = "valid"
    UNKNOWN = "unknown"
    INVALID = "invalid"

    @property
    def exit_code(self) -> int:
        """The exit code of a command whose worst verdict this is."""
        return _EXIT_CODES[self]


_EXIT_CODES: Final = {Verdict.VALID: 0, Verdict.INVALID: 1, Verdict.UNKNOWN: 2}
_SEVERITY: Final = {Verdict.VALID: 0, Verdict.UNKNOWN: 1, Verdict.INVALID: 2}


class FindingKind(StrEnum):
    """Whether a finding is about what is wrong or about what is slow."""

    SAFETY = "safety"
    AVAILABILITY = "availability"


class CheckerInputError(ValueError):
    """The input or the usage is wrong; the message is one line for the user."""


class NotApplicableError(Exception):
    """A check that can't be made on this run; the message says why in a few words."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One broken promise, in a sentence that names it.

    Attributes:
        check: what was checked.
        kind: whether it is about what is wrong or about what is slow.
        sentence: all of it.
        key: the key, if it is about one.
        operation_index: the operation, if it is about one.
        is_first: whether all was well up to that operation; if not, that was not decided.
    """

    check: str
    kind: FindingKind
    sentence: str
    key: str | None = None
    operation_index: int | None = None
    is_first: bool = True


class KeyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on the operations of one key."""

    key: str
    model: str
    verdict: Verdict
    operations: int
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    crashed: bool = False
    traceback: str = ""
    """Of a crash in this process."""


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one history, or on a whole run directory."""

    history: str
    model: str
    verdict: Verdict
    seconds: float
    operations: int
    keys: tuple[KeyVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    checked: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code that this verdict alone asks for."""
        return self.verdict.exit_code


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the worst verdict; of none at all, valid."""
    return max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.VALID)


def verdict_of_findings(findings: Iterable[Finding]) -> Verdict:
    """Returns invalid if any finding is about safety."""
    unsafe = any(finding.kind is FindingKind.SAFETY for finding in findings)
    return Verdict.INVALID if unsafe else Verdict.VALID


def verdict_of_keys(keys: Sequence[KeyVerdict]) -> Verdict:
    """Combines the verdicts of a run's keys.

    A crashed key, or more than 1 % of keys without a verdict, leaves the run without one.
    """
    if any(key.verdict is Verdict.INVALID for key in keys):
        return Verdict.INVALID
    if any(key.crashed for key in keys):
        return Verdict.UNKNOWN
    unknown = sum(key.verdict is Verdict.UNKNOWN for key in keys)
    return Verdict.UNKNOWN if unknown > UNKNOWN_KEYS_ALLOWED * len(keys) else Verdict.VALID
