"""Verdicts, findings, and how several verdicts make one.

Not here: how a verdict is reached (`checkers.engines`, `checkers.kraft`) or how it is shown. The
rules: invalid beats unknown beats valid, unknown is never a pass, slow is not wrong
(docs/concepts.md).
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from kraftproof.checkers.figures import Figures
from kraftproof.checkers.stated import InitialValues

UNKNOWN_KEYS_ALLOWED: Final = 0.01
"""The share of keys without a verdict above which a whole run has none."""

USAGE_ERROR_EXIT_CODE: Final = 3

NO_OPERATIONS: Final = "the history has no operations: nothing was checked"
NONE_SUCCEEDED: Final = (
    "no operation succeeded: each failed or is indeterminate, so that nothing was checked"
)


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


class NearFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was in force at the moment of a finding, or the last one healed before it.

    Attributes:
        name: the fault's name in the schedule.
        kind: the sort of fault, as kill or partition.
        target: the nodes that it was applied to, in words; empty if it names none.
        seconds_before: the time from the fault's beginning to the moment, if it was in force; else
            from its healing.
        is_in_force: whether it was in force.
    """

    name: str
    kind: str
    target: str
    seconds_before: float
    is_in_force: bool


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One broken promise, in a sentence that names it.

    `checkers.findings` puts the sentence together from the other fields.

    Attributes:
        check: what was checked.
        kind: whether it is about what is wrong or about what is slow.
        sentence: the whole finding, the plain fact first.
        key: the key, if it is about one.
        operation_index: the operation, if it is about one.
        is_first: whether all was well up to that operation; if not, that was not decided.
        fact: what happened, without place and time.
        reason: why that can't be; empty if the fact says it.
        time_ns: when, in the history's time; None where that has no clock.
        node: the node that it is about, if it is about one.
        faults: the faults in force at that time, or else the one healed last before it.
        events: the indexes of the history's events that it is about, at most two.
    """

    check: str
    kind: FindingKind
    sentence: str
    key: str | None = None
    operation_index: int | None = None
    is_first: bool = True
    fact: str = ""
    reason: str = ""
    time_ns: int | None = None
    node: str | None = None
    faults: tuple[NearFault, ...] = ()
    events: tuple[int, ...] = ()


class KeyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on the operations of one key.

    Attributes:
        is_vacuous: whether no operation on the key succeeded, so that it proves nothing.
    """

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
    is_vacuous: bool = False


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one history, or on a whole run directory.

    Attributes:
        findings: the broken promises, worst first.
        doubts: the mishaps of the run and the guards that it does not meet, one sentence each.
        notes: why keys or checks have no verdict, one sentence each.
        figures: the run in numbers; None for a bare history, and for a run that did not get to its
            first operation.
        is_keyed: what the user said of the values: that each is [key, value], or none.
        initial: what the user said that the system holds at first.
    """

    history: str
    model: str
    verdict: Verdict
    seconds: float
    operations: int
    keys: tuple[KeyVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    checked: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    figures: Figures | None = None
    is_keyed: bool | None = None
    initial: InitialValues | None = None

    @property
    def exit_code(self) -> int:
        """The exit code that this verdict alone asks for."""
        return self.verdict.exit_code

    @property
    def why(self) -> tuple[str, ...]:
        """The findings, then the reasons for a verdict that is not valid, one sentence each."""
        findings = (f"{one.check}: {one.sentence}" for one in self.findings)
        notes = () if self.verdict is Verdict.VALID else self.notes
        return (*findings, *self.doubts, *notes)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the worst verdict; of none at all, valid."""
    return max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.VALID)


def verdict_of_findings(findings: Iterable[Finding]) -> Verdict:
    """Returns invalid if any finding is about safety."""
    unsafe = any(finding.kind is FindingKind.SAFETY for finding in findings)
    return Verdict.INVALID if unsafe else Verdict.VALID


def verdict_of_keys(keys: Sequence[KeyVerdict]) -> Verdict:
    """Return the verdict on a run from those on its keys.

    A crashed key, or more than 1 % of keys without a verdict, leaves the run without one. A key
    that proves nothing counts on neither side; a run of which no key proves anything is unknown.
    """
    if any(key.verdict is Verdict.INVALID for key in keys):
        return Verdict.INVALID
    if any(key.crashed for key in keys):
        return Verdict.UNKNOWN
    telling = [key for key in keys if not key.is_vacuous]
    unknown = sum(key.verdict is Verdict.UNKNOWN for key in telling)
    too_many = not telling or unknown > UNKNOWN_KEYS_ALLOWED * len(telling)
    return Verdict.UNKNOWN if too_many else Verdict.VALID
