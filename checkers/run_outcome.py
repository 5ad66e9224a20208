"""Reads outcome.json: the facts about a run that only its harness knows.

The harness writes the file as the last act of a run, before the run is judged: when it invoked
operations, which mishaps spoiled the run, which invariants a simulator saw violated. A run of
Kraftproof's without the file has not ended. See `checkers.guards` for the verdict on such a run.
"""

from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers.findings import Faults, violation_finding
from kraftproof.checkers.verdict import CheckerInputError, Finding

OUTCOME_FILE: Final = "outcome.json"
OUTCOME_VERSION: Final = 1
CONTAMINATED: Final = "contaminated"
"""The kind of mishap of a run that met nodes or values of another run: no finding counts."""


class Mishap(msgspec.Struct, frozen=True, kw_only=True):
    """An event that kept a run from proving anything, without a broken promise.

    Attributes: kind: a word for programs, such as interrupted or cluster.
        sentence: the whole of it, for people.
    """

    kind: str
    sentence: str


class ViolatedInvariant(msgspec.Struct, frozen=True, kw_only=True):
    """An invariant of the simulator that did not hold.

    Attributes:
        invariant: its name.
        sentence: what it promises.
        node: the node that violated the invariant.
        time_ns: when, in the history's time.
        detail: what was seen.
        event: how many events of the run had happened.
        kind: property, or crash where a node ended of an exception.
    """

    invariant: str
    sentence: str
    node: int | None = None
    time_ns: int | None = None
    detail: str = ""
    event: int = 0
    kind: str = "property"

    def finding(self, faults: Faults = None) -> Finding:
        """Return the broken promise; its check is the invariant's name.

        Args:
            faults: when the run's faults were in force.
        """
        return violation_finding(
            invariant=self.invariant,
            statement=self.sentence,
            detail=self.detail,
            node=self.node,
            time_ns=self.time_ns,
            faults=faults,
        )


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run as its harness reports it.

    Attributes:
        schema_version: the form of the file.
        started_ns: when the first operation could be invoked; None if the run did not get there.
        ended_ns: when the last operation could be invoked; the final reads come after it.
        is_complete: whether the workload came to its end, final reads included.
        is_guarded: whether the guards against a vacuous pass hold for the run; a search has none.
        events: the number of events that the harness wrote into the history; None if unknown.
        unread_keys: how many keys could not be read after everything was healed.
        leader_changes: for each new leader, the last look at the nodes before and the first after.
        mishaps: the mishaps in the order of time.
        violations: the violations in the order of time.
    """

    schema_version: int = OUTCOME_VERSION
    started_ns: int | None = None
    ended_ns: int | None = None
    is_complete: bool = True
    is_guarded: bool = True
    events: int | None = None
    unread_keys: int = 0
    leader_changes: tuple[tuple[int, int], ...] = ()
    mishaps: tuple[Mishap, ...] = ()
    violations: tuple[ViolatedInvariant, ...] = ()

    @property
    def is_contaminated(self) -> bool:
        """Whether the run met nodes or values of another run."""
        return any(one.kind == CONTAMINATED for one in self.mishaps)


def read_outcome(directory: Path) -> RunOutcome | None:
    """Return the outcome of the run in a directory; None if the run has no outcome.

    Raises:
        CheckerInputError: the file can't be read, or is of another form.
    """
    path = directory / OUTCOME_FILE
    try:
        outcome = msgspec.json.decode(path.read_bytes(), type=RunOutcome)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckerInputError(f"{path}: can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CheckerInputError(f"{path}: {error}") from error
    if outcome.schema_version != OUTCOME_VERSION:
        raise CheckerInputError(
            f"{path}: schema_version is {outcome.schema_version}, not {OUTCOME_VERSION}"
        )
    return outcome
