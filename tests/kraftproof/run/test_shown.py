"""What is shown of a failing run: why it fails, the events about that, and what was left out."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from kraftproof.checkers.history.operations import read_operations
from kraftproof.checkers.verdict import NO_OPERATIONS, Finding, FindingKind, Verdict
from kraftproof.cluster.simulated.trace.trace_events import Kind
from kraftproof.cluster.simulated.violation import Violation, ViolationKind
from kraftproof.run.diagram_recorder import DiagramRecorder
from kraftproof.run.directory import RunDirectory
from kraftproof.search.scenario import from_schedule
from kraftproof.search.schedule_file import options_of, read_schedule_text
from kraftproof.search.seed_result import SeedResult
from kraftproof.search.seeds import scenario_run
from tests.cluster.simulated.trace.test_diagram import event, nodes

QUIET = """kraftproof schedule 1
seed 3
nodes 3+1
workload {workload}
rate 20
concurrency 3
time-limit 2
{more}
"""


def finding(check, *, kind=FindingKind.SAFETY, **fields):
    return Finding(check=check, kind=kind, sentence="It does not hold.", **fields)


def result(tmp_path, *findings, violations=()):
    return SimpleNamespace(
        directory=RunDirectory(path=tmp_path),
        verdict=Verdict.INVALID,
        findings=findings,
        simulation=SimpleNamespace(violations=violations, crashes=(), events=99),
        run=None,
        why=("why",),
    )


def seed_result(found):
    return SeedResult(seed=1, scenario=None, result=found, cpu_s=0.0)


def violation(**fields):
    values = {"invariant": "LogMatching", "sentence": "s", "node": 2, "time_ns": 5, "detail": "d"}
    return Violation(**values, event=7, **fields)


def test_the_reason_is_the_invariant_or_the_first_check_that_every_run_makes(tmp_path):
    checks = (
        finding("kraft/x"),
        finding("topics/slow", kind=FindingKind.AVAILABILITY),
        finding("topics/linearizable"),
    )
    found = seed_result(result(tmp_path, *checks))
    assert found.reasons == ("topics/linearizable", "kraft/x")
    assert (found.reason, found.event) == ("topics/linearizable", 99)
    found = seed_result(result(tmp_path, *checks, violations=(violation(),)))
    assert (found.reason, found.reasons, found.event) == ("LogMatching", ("LogMatching",), 7)
    assert seed_result(result(tmp_path)).reason is None


def test_what_names_a_violation_in_json_is_a_field_of_the_invariant_or_check(tmp_path):
    told = seed_result(result(tmp_path, violations=(violation(),))).violation_as_json()
    assert told == {
        "seed": 1,
        "event": 7,
        "invariant": "LogMatching",
        "kind": "property",
        "sentence": "s",
        "node": 2,
        "time": 5e-9,
        "detail": "d",
        "why": ["why"],
        "crash": None,
    }
    crash = seed_result(result(tmp_path, violations=(violation(kind=ViolationKind.CRASH),)))
    assert (crash.is_crash, crash.violation_as_json()["kind"]) == (True, "crash")
    told = seed_result(result(tmp_path, finding("topics/linearizable"))).violation_as_json()
    assert (told["invariant"], told["kind"], told["node"]) == (
        "topics/linearizable",
        "property",
        None,
    )


def drawn(found, *events):
    recorder = DiagramRecorder()
    recorder._recorder = SimpleNamespace(events=events)
    recorder._cluster = SimpleNamespace(nodes=nodes())
    return [" ".join(line.split()) for line in recorder.draw(found).splitlines()[4:]]


def test_an_invariant_ends_the_diagram_at_its_node(tmp_path):
    lines = drawn(result(tmp_path, violations=(violation(),)), event(Kind.STEP, 1, "flushed 3"))
    assert len(lines) == 2
    assert "LogMatching: d" in lines[-1]
    assert (tmp_path / "diagram.txt").read_text().splitlines()[-1].endswith("LogMatching: d")


def test_a_check_of_an_operation_shows_what_came_before_its_end_about_its_key(tmp_path):
    common = {"process": 0, "f": "lookup", "key": "topic-1", "node": 4}
    rows = [
        {"index": 0, **common, "type": "invoke", "value": None, "time": 1_000_000},
        {"index": 1, **common, "type": "ok", "value": {"outcome": "absent"}, "time": 3_000_000},
    ]
    lines = b"\n".join(msgspec.json.encode(row) for row in rows) + b"\n"
    (tmp_path / "history.jsonl").write_bytes(lines)
    assert len(read_operations(tmp_path / "history.jsonl")) == 1
    found = result(tmp_path, finding("topics/linearizable", key="topic-1", operation_index=0))
    shown = drawn(
        found,
        event(Kind.STEP, 1, "appends 1@1 Topic topic-1", at_ms=1),
        event(Kind.STEP, 1, "appends 2@1 Topic topic-2", at_ms=2),
        event(Kind.RESPONSE, 4, "ok", at_ms=2, source=1, subject="topic-1", api="CreateTopics"),
        event(Kind.STEP, 1, "appends 3@1 Topic topic-1", at_ms=4),
    )
    assert len(shown) == 3
    assert "topic-1" in shown[0]
    assert "CreateTopics → ok" in shown[1]
    assert shown[2].endswith('operation 0: lookup ok {"outcome": "absent"}')


def history_of(tmp_path: Path, workload: str, more: str) -> list[tuple[str, str]]:
    path = tmp_path / "small.txt"
    path.write_text(QUIET.format(workload=workload, more=more), encoding="utf-8")
    text = read_schedule_text(path)
    one = from_schedule(options_of(text, tmp_path), text)
    with scenario_run(one, None, is_collected=False) as found:
        nothing = (NO_OPERATIONS,)  # where all are left out, and no key has a final read
        assert found.why in {(), nothing}, found.why
        before_end = found.run.ended_ns
        return [
            (operation.f, operation.key)
            for operation in read_operations(found.directory.history)
            if operation.invoke_time < before_end
        ]


@pytest.mark.simulation
@pytest.mark.parametrize("workload", ["topics", "registration"])
def test_operations_are_left_out_by_their_numbers(tmp_path, workload):
    whole = history_of(tmp_path, workload, "")
    assert len(whole) > 8
    assert history_of(tmp_path, workload, "operations none") == []
    assert history_of(tmp_path, workload, "operations 0-3") == whole[:4]
    few = history_of(tmp_path, workload, "operations 2,5")
    assert len(few) == 2
    assert few[0] == whole[2] or workload == "registration", "there, a lease is held by somebody"
