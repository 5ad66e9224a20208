"""Write outcome.json, the file of a run directory with the facts that only the runner knows.

The runner notes mishaps here. The package `checkers` reads the file and reaches the verdict, so a
second check of the run gives the same verdict. See checkers/run_outcome.py for the fields, and
kraftproof/run/health for the violations of live nodes.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kraftproof.checkers.run_outcome import OUTCOME_FILE, Mishap, RunOutcome, ViolatedInvariant
from kraftproof.checkers.unfinished import unfinished
from kraftproof.run.interpreter.interpreter import Interpreted

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.violation import Violation

NOT_REPEATABLE = "not-repeatable"


class OutcomeRecorder:
    """Collects the outcome of a run in memory until `write`."""

    __slots__ = ("_directory", "_is_guarded", "_mishaps")

    def __init__(self, directory: Path, *, is_guarded: bool) -> None:
        self._directory = directory
        self._is_guarded = is_guarded
        self._mishaps: list[Mishap] = []

    def mishap(self, kind: str, sentence: str) -> None:
        """Note an event that prevents a valid verdict; `kind` is a word for programs."""
        self._mishaps.append(Mishap(kind=kind, sentence=sentence))

    def write(
        self,
        run: Interpreted | None,
        violations: "Sequence[Violation]",
        seen: Sequence[ViolatedInvariant] = (),
        *,
        is_complete: bool,
        events: int | None = None,
        leader_changes: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Write the complete file, or leave no file.

        Args:
            run: The result of the interpreter, perhaps of a part of the run; None if the workload
                never started.
            violations: Violated invariants of the simulator.
            seen: Violations by the nodes of a live run.
            is_complete: Whether the workload reached its end.
            events: The number of events in the history; None without a history.
            leader_changes: The times of the looks around each change of the leader.
        """
        outcome = RunOutcome(
            started_ns=None if run is None else run.started_ns,
            ended_ns=None if run is None else run.ended_ns,
            is_complete=is_complete,
            is_guarded=self._is_guarded,
            events=events,
            unread_keys=0 if run is None else run.unread_keys,
            leader_changes=leader_changes,
            mishaps=tuple(self._mishaps),
        )
        fields = msgspec.to_builtins(outcome)
        _replace(
            self._directory, fields | {"violations": msgspec.to_builtins((*violations, *seen))}
        )


def add_mishap(directory: Path, kind: str, sentence: str) -> None:
    """Add a mishap to the outcome of an ended run; the caller must judge the run again."""
    fields = json.loads((directory / OUTCOME_FILE).read_bytes())
    mishap = Mishap(kind=kind, sentence=sentence)
    _replace(directory, fields | {"mishaps": [*fields["mishaps"], msgspec.to_builtins(mishap)]})


def _replace(directory: Path, fields: dict[str, object]) -> None:
    with unfinished(directory / f".{OUTCOME_FILE}.part") as part:
        part.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
        part.replace(directory / OUTCOME_FILE)
