"""What the harness says of a run is part of its verdict, alike inline, on Spark and in analyses."""

import json

import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.verdict import Verdict
from kraftproof.report.analysis import read_analysis
from tests.checkers.spark.test_engines_agree import (
    MS,
    TOPIC_LOG,
    comparable,
    topic_events,
    write_run,
)
from tests.support.checkers.analyses import local_analysis

VIOLATION = {
    "invariant": "ElectionSafety",
    "sentence": "One leader an epoch.",
    "node": 1,
    "time_ns": 2 * MS,
    "detail": "two lead",
    "event": 7,
    "kind": "property",
}
ENDED = {"schema_version": 1, "started_ns": 0, "ended_ns": 60_000 * MS, "is_guarded": False}
OUTCOMES = {
    "ended": (ENDED, Verdict.VALID),
    "guarded": (ENDED | {"is_guarded": True}, Verdict.UNKNOWN),
    "mishap": (
        ENDED | {"mishaps": [{"kind": "interrupted", "sentence": "interrupted: it broke off"}]},
        Verdict.UNKNOWN,
    ),
    "violated": (ENDED | {"is_complete": False, "violations": [VIOLATION]}, Verdict.INVALID),
    "damaged": (ENDED | {"events": 99, "violations": [VIOLATION]}, Verdict.UNKNOWN),
    "died": (None, Verdict.UNKNOWN),
}
"""By name: what outcome.json says of a run whose history is in order, and its verdict."""


@pytest.fixture
def told_runs(tmp_path):
    """Runs that differ in their outcome alone, and histories of which nothing succeeded."""
    paths = []
    for name, (outcome, _) in OUTCOMES.items():
        path = write_run(tmp_path / name, "topics", topic_events(lost=False), TOPIC_LOG)
        told = json.loads((path / "run.json").read_text()) | {"kraftproof": "1"}
        told["options"]["nemeses"] = ["pause"]
        (path / "run.json").write_text(json.dumps(told))
        if outcome is not None:
            (path / "outcome.json").write_text(json.dumps(outcome))
        paths.append(path)
    for status in ("fail", "info"):
        events = [event for event in topic_events(lost=False) if event["type"] == "invoke"]
        ends = [event | {"type": status} for event in events]
        both = [one for pair in zip(events, ends, strict=True) for one in pair]
        paths.append(write_run(tmp_path / status, "topics", both, tables=False))
    (tmp_path / "empty.jsonl").touch()
    return [*paths, tmp_path / "empty.jsonl"]


def test_what_the_harness_saw_decides_where_the_history_is_in_order(told_runs):
    runs = list(check_paths(told_runs, engine="inline"))
    wanted = [verdict for _, verdict in OUTCOMES.values()]
    assert [run.verdict for run in runs] == [*wanted, *[Verdict.UNKNOWN] * 3]
    ended, guarded, mishap, violated, damaged, died, *nothing = runs
    assert ended.why == ()
    assert guarded.why == (
        "pause: 0 faults have bitten, at least 2 are needed",
        "no operation succeeded in the quiet windows",
    )
    assert mishap.why == ("interrupted: it broke off",)
    assert [finding.check for finding in violated.findings] == ["ElectionSafety"]
    assert damaged.why[0].startswith("the history is damaged: it has ")
    assert damaged.findings == ()
    assert died.doubts[0].startswith("the run has no outcome.json")
    assert all("nothing was checked" in run.why[0] for run in nothing)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_analysis_says_what_the_inline_engine_says(told_runs, tmp_path):
    out = local_analysis(told_runs, tmp_path / "out")
    found = read_analysis(out)
    inline = list(check_paths(told_runs, engine="inline"))
    assert [(run["label"], run["verdict"]) for run in found.runs] == [
        (run.history, run.verdict.value) for run in inline
    ]
    for row, run in zip(found.runs, inline, strict=True):
        assert sorted(row["notes"].split("; ")) == sorted((*run.doubts, *run.notes) or ("",))
    findings = [(row["check"], row["sentence"]) for one in found.runs
                for row in found.findings_of(one["run"])]  # fmt: skip
    assert findings == [(one.check, one.sentence) for run in inline for one in run.findings]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_check_on_spark_says_what_the_inline_engine_says(told_runs):
    by_engine = [
        [comparable(run) for run in check_paths(told_runs, engine=engine)]
        for engine in ("inline", "spark")
    ]
    assert by_engine[0] == by_engine[1]


@pytest.mark.parametrize(
    ("changes", "wanted"), [([], Verdict.INVALID), ([[29_500 * MS, 30_500 * MS]], Verdict.VALID)]
)
def test_a_change_of_the_leader_excuses_a_repeat_that_the_system_declares(
    tmp_path, changes, wanted
):
    operations = [("create", 30_000 * MS), ("lookup", 50_000 * MS)]
    events = [
        {"index": 2 * place + end, "process": 0, "f": f, "key": "t", "time": at + end * MS}
        | ({"type": "ok", "value": {"outcome": "exists"}} if end else {"type": "invoke"})
        for place, (f, at) in enumerate(operations)
        for end in (0, 1)
    ]
    path = write_run(tmp_path / "run", "topics", events, tables=False)
    told = json.loads((path / "run.json").read_text()) | {"kraftproof": "1"}
    told["guarantees"] = {"create": "at-least-once"}
    (path / "run.json").write_text(json.dumps(told))
    (path / "outcome.json").write_text(json.dumps(ENDED | {"leader_changes": changes}))
    (run,) = check_paths([path], engine="inline")
    assert run.verdict is wanted
