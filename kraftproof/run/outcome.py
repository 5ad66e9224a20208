"""Write outcome.json, the file of a run directory with the facts that only the runner knows.

The runner notes mishaps here. The package `checkers` reads the file and reaches the verdict, so a
second check of the run gives the same verdict. See checkers/run_outcome.py for the fields. What the
clients of a live run have seen of their answers is judged here, as the log of the faults is whole.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kraftproof.checkers.history.faults import FaultSpan, fault_spans, read_faults
from kraftproof.checkers.run_outcome import OUTCOME_FILE, Mishap, RunOutcome, ViolatedInvariant
from kraftproof.checkers.unfinished import unfinished
from kraftproof.cluster.answer_watch import BOUND_NS, AnswerWatch, Silence, WatchesAnswers
from kraftproof.cluster.protocol import Cluster
from kraftproof.run.interpreter import Interpreted

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.violation import Violation

NOT_REPEATABLE = "not-repeatable"
IN_ORDER: Final = "AnswersComeOnceInOrder"
ENDS: Final = "EveryRequestEnds"
STATEMENTS: Final = {
    IN_ORDER: "Each request on a connection is answered once, in order and in its version.",
    ENDS: f"A node answers each request within the client's time-out and {BOUND_NS // 10**9} s, "
    "or ends the connection.",
}
HARMLESS: Final = frozenset({"partition", "isolate"})
"""Kinds of faults under which a node answers its clients in time."""
RECOVERY_NS: Final = 5_000_000_000
"""Time after a fault that does not count either."""


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
    ) -> None:
        """Write the complete file, or leave no file.

        Args:
            run: The result of the interpreter, perhaps of a part of the run; None if the workload
                never started.
            violations: Violated invariants of the simulator.
            seen: Violations that the clients of a live run have seen.
            is_complete: Whether the workload reached its end.
        """
        outcome = RunOutcome(
            started_ns=None if run is None else run.started_ns,
            ended_ns=None if run is None else run.ended_ns,
            is_complete=is_complete,
            is_guarded=self._is_guarded,
            unread_keys=0 if run is None else run.unread_keys,
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


def violations_of_answers(cluster: Cluster | None, faults: Path) -> tuple[ViolatedInvariant, ...]:
    """Return what the clients of a live cluster have seen, judged by the log of its faults."""
    if not isinstance(cluster, WatchesAnswers):
        return ()
    return broken_promises(cluster.answers, fault_spans(read_faults(faults)))


def broken_promises(
    watch: AnswerWatch, faults: Iterable[FaultSpan]
) -> tuple[ViolatedInvariant, ...]:
    """Return a violation for each wrong answer and each silence that no fault excuses."""
    spans = [(one.start, one.end) for one in faults if one.kind not in HARMLESS]
    found = [_violation(IN_ORDER, one.node_id, one.time_ns, one.detail) for one in watch.wrong]
    for one in watch.silent:
        silent_ns = _counted_ns(one, spans)
        if silent_ns > one.timeout_ns + BOUND_NS:
            detail = f"{one.about}: no answer for {silent_ns / 1e9:.1f} s without a fault"
            found.append(_violation(ENDS, one.node_id, one.asked_ns, detail))
    return tuple(sorted(found, key=lambda one: one.time_ns or 0))


def _counted_ns(silence: Silence, spans: Iterable[tuple[int, int | None]]) -> int:
    """Return the time of a silence outside of all spans."""
    counted_ns, reached_ns = 0, silence.asked_ns
    for start, end in sorted(spans):
        if start > reached_ns:
            counted_ns += max(0, min(start, silence.until_ns) - reached_ns)
        healed_ns = silence.until_ns if end is None else end + RECOVERY_NS
        reached_ns = max(reached_ns, healed_ns)
    return counted_ns + max(0, silence.until_ns - reached_ns)


def _violation(invariant: str, node: int, time_ns: int, detail: str) -> ViolatedInvariant:
    return ViolatedInvariant(
        invariant=invariant,
        sentence=STATEMENTS[invariant],
        node=node,
        time_ns=time_ns,
        detail=detail,
    )
