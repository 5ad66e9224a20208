"""The JSON object of a verdict for `check --json` and `explain --json`.

Fields: history, model, verdict, seconds, operations, keys (a number), findings, doubts (mishaps and
unmet guards), notes, not_applicable. A finding has the fields of checkers.verdict.Finding, and the
indexes `operation` and `events` of the operation and its events. The findings of the first invalid
keys have an `explanation` (checkers.explain.explanation) with a minimal `sub_history`. The cost is
bounded: MOST_EXPLAINED keys, and WORDS_SECONDS for each of two searches.
"""

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.sources import History
from kraftproof.checkers.verdict import CheckerInputError, Finding, RunVerdict
from kraftproof.output import print_error

Fields = dict[str, object]


def json_line(run: RunVerdict) -> str:
    """Return the JSON object of a verdict on one line."""
    line: Fields = {
        "history": run.history,
        "model": run.model,
        "verdict": run.verdict,
        "seconds": round(run.seconds, 6),
        "operations": run.operations,
        "keys": len(run.keys),
        "findings": _findings(run),
        "doubts": run.doubts,
        "notes": run.notes,
        "not_applicable": run.not_applicable,
    }
    return msgspec.json.encode(line).decode()


def _findings(run: RunVerdict) -> list[Fields]:
    if not run.findings:
        return []
    found: list[Fields] = [
        {**msgspec.to_builtins(one), "operation": one.operation_index} for one in run.findings
    ]
    if any(one.operation_index is not None for one in run.findings):
        from kraftproof.checkers.explain.run import read_again  # slow; a valid run needs none

        history = read_again(run)
        events = _events(history, run.findings)
        for fields in found:
            fields["events"] = events.get(fields["operation"], [])
        _explain(found, history, run)
    return found


def _events(history: History, findings: tuple[Finding, ...]) -> dict[object, list[int]]:
    """Return the indexes of the events of each operation that a finding names."""
    named = [one.operation_index for one in findings if one.operation_index is not None]
    wanted = pa.array(named, pa.int64())
    rows = history.table.filter(pc.is_in(history.table.column("index"), wanted))
    names = ("index", "invoke_index", "complete_index")
    return {
        index: [event for event in events if event is not None]
        for index, *events in zip(*(rows.column(name).to_pylist() for name in names), strict=True)
    }


def _explain(found: list[Fields], history: History, run: RunVerdict) -> None:
    """Add the explanations of the first invalid keys to their findings."""
    from kraftproof.checkers.explain.run import explainable, explained
    from kraftproof.report.explanations import WORDS_SECONDS

    places = {one.key: run.findings.index(one) for one in explainable(run)}
    try:
        for one in explained(history, run, seconds=WORDS_SECONDS):
            explanation = one.explanation
            found[places[explanation.key]]["explanation"] = msgspec.to_builtins(explanation)
    except CheckerInputError as error:
        print_error(f"kraftproof: {error}")
