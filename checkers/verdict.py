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
    """The result of a check; `unknown` ranks between the other two."""

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
    """The kind of a finding: safety (a wrong result), availability (a slow result) or declared.

    A declared finding is a result that the system, or the client's own setting, does not promise to
    avoid, such as the loss of a record that was sent with acks=1. The run stays valid.
    """

    SAFETY = "safety"
    AVAILABILITY = "availability"
    DECLARED = "declared"


class CheckerInputError(ValueError):
    """The input or the usage is wrong; the message is one line for the user."""


class NotApplicableError(Exception):
    """A check that can't be made on this run; the message says why in a few words."""


class NearFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was in force at the moment of a finding, or the last one healed before it.

    Attributes:
        name: the fault's name in the schedule.
        kind: the sort of fault, as kill or partition.
        target: the affected nodes, in words; empty for a fault without nodes.
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
    """A broken promise, with a sentence that names the promise.

    `checkers.findings` puts the sentence together from the other fields.

    Attributes:
        check: what was checked.
        kind: safety (a wrong result) or availability (a slow result).
        sentence: the whole finding, the plain fact first.
        key: the key, for a finding on a key.
        operation_index: the operation, for a finding on an operation.
        is_first: whether the operations before the operation are known to be legal; false if
            undecided.
        fact: what happened, without place and time.
        reason: why the fact is a violation; empty if the fact explains itself.
        time_ns: when, in the history's time; None where that has no clock.
        node: the node, for a finding on a node.
        log_offset: the offset in the metadata log, for a finding on a log or a snapshot.
        faults: the faults in force at that time, or else the fault healed last before.
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
    log_offset: int | None = None
    faults: tuple[NearFault, ...] = ()
    events: tuple[int, ...] = ()


class KeyVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on the operations of one key.

    Attributes: is_vacuous: whether no operation on the key succeeded, so that the key proves
        nothing.
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
    """The traceback of a crash in this process."""
    is_vacuous: bool = False


class RunVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one history, or on a whole run directory.

    Attributes:
        findings: the broken promises, worst first.
        doubts: the mishaps of the run and the guards that the run fails, one sentence each.
        notes: why keys or checks have no verdict, one sentence each.
        figures: the run in numbers; None for a bare history, and for a run that did not get to its
            first operation.
        is_keyed: the user's statement on the values: true if each value is [key, value], false if
            none is.
        initial: the user's statement on initial values.
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
        """Return the exit code for this verdict."""
        return self.verdict.exit_code

    @property
    def why(self) -> tuple[str, ...]:
        """Return the findings, then the reasons for an unknown or invalid verdict."""
        findings = (f"{one.check}: {one.sentence}" for one in self.findings)
        notes = () if self.verdict is Verdict.VALID else self.notes
        return (*findings, *self.doubts, *notes)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict; valid for an empty sequence."""
    return max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.VALID)


def verdict_of_findings(findings: Iterable[Finding]) -> Verdict:
    """Return invalid if any finding is about safety."""
    unsafe = any(finding.kind is FindingKind.SAFETY for finding in findings)
    return Verdict.INVALID if unsafe else Verdict.VALID


def verdict_of_keys(keys: Sequence[KeyVerdict]) -> Verdict:
    """Combine the verdicts on the keys of a run.

    A crashed key, or more than 1 % of keys without a verdict, leaves the run without one. A key
    that proves nothing counts on neither side; a run in which no key proves anything is unknown.
    """
    if any(key.verdict is Verdict.INVALID for key in keys):
        return Verdict.INVALID
    if any(key.crashed for key in keys):
        return Verdict.UNKNOWN
    telling = [key for key in keys if not key.is_vacuous]
    unknown = sum(key.verdict is Verdict.UNKNOWN for key in telling)
    too_many = not telling or unknown > UNKNOWN_KEYS_ALLOWED * len(telling)
    return Verdict.UNKNOWN if too_many else Verdict.VALID
