"""The report names the offending operation with what stood around it, and needs nothing else."""

import json
from pathlib import Path
from xml.etree import ElementTree

from kraftproof.checkers.figures import Figures
from kraftproof.checkers.history.tables import write_table
from kraftproof.checkers.verdict import Finding, FindingKind, NearFault, RunVerdict, Verdict
from kraftproof.cluster.protocol import nodes_of
from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.options import RunOptions
from kraftproof.report import write_reports
from kraftproof.report.around import BEFORE, MOST_STEPS, events_around
from kraftproof.report.charts import charts
from kraftproof.report.next_steps import files_of, next_steps, replay_command
from kraftproof.report.run_view import read_view
from kraftproof.run.directory import RunDirectory
from kraftproof.run.history import FaultRecorder, HistoryRecorder
from kraftproof.run.interpreter.interpreter import Interpreted
from kraftproof.workloads.topics import Topics

NODES = nodes_of(controller=3, broker=3)

S = 1_000_000_000
OFFENDING = 20


class Clock:
    """Time that a test sets."""

    def __init__(self):
        self.now_ns = 0

    def now(self):
        return self.now_ns


def recorded(directory):
    """Twenty-four look-ups of one topic, one a second; broker 5 is down from 18 s to 22 s."""
    clock = Clock()
    history = HistoryRecorder(directory.history, clock.now)
    faults = FaultRecorder(directory.faults, clock.now)
    for second in range(24):
        clock.now_ns = second * S
        if second == 18:
            faults.write("applied", "f0", "kill", (5,), "kill -9 node 5")
        if second == 22:
            faults.write("healed", "f0", "kill", (5,), "start node 5")
        outcome = Outcome.FAIL if second == OFFENDING + 1 else Outcome.OK
        invoked = history.invoke(second % 3, "lookup", f"topic-{second % 2}", None, 4)
        clock.now_ns += S // 10
        value = {"outcome": "absent"} if outcome is Outcome.OK else None
        history.complete(invoked, Completion(outcome=outcome, value=value))
    history.close()
    faults.close()
    return Interpreted(
        started_ns=0,
        ended_ns=24 * S,
        unread_keys=0,
        operations=history.done,
        faults=tuple(faults.events),
    )


def finding(sentence, index=OFFENDING, **fields):
    return Finding(
        check="topics/linearizable",
        kind=FindingKind.SAFETY,
        key="topic-0",
        operation_index=index,
        sentence=sentence,
        **fields,
    )


def viewed(tmp_path, findings=()):
    directory = RunDirectory(path=tmp_path)
    recorded(directory)
    directory.write_run(RunOptions(nemeses=("kill",)), Topics(), NODES, (), "0" * 64)
    return read_view(directory, findings)


def trace_of(directory):
    """Node 4 reports a step each second, on a clock of its own."""
    rows = [
        {"seq": n, "time": 7 * S + n, "node": 4, "incarnation": 0, "event": "Tick", "epoch": n}
        | {"run_time": n * S}
        for n in range(24)
    ]
    write_table(directory.tables, "trace", rows)


def test_around_a_finding_are_its_key_what_it_names_its_faults_and_its_node(tmp_path):
    near = NearFault(name="f0", kind="kill", target="5", seconds_before=2.1, is_in_force=True)
    moment = {"time_ns": OFFENDING * S + S // 10, "node": "4", "faults": (near,)}
    found = [finding("it contradicts operation 0", **moment), finding("apart", 4)]
    view = viewed(tmp_path, found)
    trace_of(view.directory)
    first, second = events_around(view, found)
    operations = [one for one in first.events if one.kind == "operation"]
    assert [one.operation for one in operations] == [0, *range(OFFENDING - 2 * BEFORE, 24, 2)]
    (named,) = [one for one in operations if one.is_named]
    assert (named.operation, named.at, named.status) == (OFFENDING, "20.000 s", "ok")
    assert named.what == "lookup → outcome=absent (100.0 ms)"
    faults = [(one.at, one.status) for one in first.events if one.kind == "fault"]
    assert faults == [("18.000 s", "applied"), ("22.000 s", "healed")]
    assert len(first.steps) == MOST_STEPS
    assert [one.at for one in first.steps[-4:]] == ["20.000 s", "21.000 s", "22.000 s", "23.000 s"]
    assert first.steps[-1].what == "event=Tick epoch=23"
    times = [one.time_ns for one in first.events]
    assert times == sorted(times)
    assert second.steps == []


def test_ticks_are_round_times_and_the_axes_reach_every_finding(tmp_path):
    view = viewed(tmp_path)
    assert [tick.label for tick in charts(view, ()).ticks] == [f"{n} s" for n in range(0, 24, 2)]
    late = [finding("late", time_ns=40 * S), finding("too", time_ns=40 * S), finding("none")]
    view = viewed(tmp_path, late)
    drawn = charts(view, late)
    (moment,) = drawn.moments
    assert (moment.x, moment.number) == (1.0, 1)
    assert drawn.ticks[-1].label == "40 s"
    assert all(0 <= shade.left <= shade.left + shade.width <= 1 for shade in drawn.shades)


def test_a_run_is_replayed_with_the_options_that_are_not_the_defaults(tmp_path):
    view = viewed(tmp_path)
    assert replay_command(view) == "kraftproof test --seed 0 --nemesis kill"
    (tmp_path / "schedule.txt").write_text("")
    assert replay_command(view) == f"kraftproof sim --schedule {tmp_path}/schedule.txt"
    purposes = [step.purpose for step in next_steps(view, is_invalid=True)]
    assert purposes == ["explain", "replay", "shrink", "check again"]
    assert next_steps(view, is_invalid=False)[0].purpose == "replay"


def test_a_run_with_listed_faults_is_replayed_with_their_file(tmp_path):
    directory = viewed(tmp_path).directory
    options = RunOptions(nemeses=("kill",), faults_file=Path("two kills.txt"), at_once=2)
    directory.write_run(options, Topics(), NODES, (), "0" * 64)
    command = "kraftproof test --seed 0 --faults 'two kills.txt' --at-once 2"
    assert replay_command(read_view(directory, ())) == command


def test_the_files_are_those_of_the_node_and_first_a_plug_ins_mistake(tmp_path):
    view = viewed(tmp_path)
    for node in ("1", "4"):
        (tmp_path / "nodes" / node).mkdir(parents=True)
        (tmp_path / "nodes" / node / "output.log").write_text("x")
        (tmp_path / "nodes" / node / ".set-up-done").touch()
    assert files_of(view, "4") == [tmp_path / "nodes/4/output.log"]
    assert len(files_of(view, None)) == 2
    (tmp_path / "plugin-error.txt").write_text("Traceback")
    assert files_of(view, "4")[0] == tmp_path / "plugin-error.txt"


def test_the_page_and_the_junit_of_an_invalid_run(tmp_path):
    directory = RunDirectory(path=tmp_path)
    recorded(directory)
    options = RunOptions(nemeses=("kill",))
    directory.write_run(options, Topics(), NODES, (), "0" * 64)
    sentence = 'topic "topic-0" <was> there'
    moment = {"fact": sentence, "time_ns": 20 * S, "node": "4", "events": (40, 41)}
    trace_of(directory)
    check = RunVerdict(
        history="h",
        model="topics",
        verdict=Verdict.INVALID,
        seconds=0.5,
        operations=24,
        findings=(finding(sentence, **moment),),
        checked=("kraft/logs-agree",),
        figures=Figures(
            ok=23,
            fail=1,
            info=0,
            ok_in_faults=4,
            quiet_share=0.7,
            quiet_ok_rate=1.0,
            quiet=(),
            busy=(),
            bitten=(("kill", 1),),
            moot=0,
            failed=0,
            unread_keys=0,
        ),
    )
    write_reports(directory, check)
    page = directory.report.read_text()
    assert ">invalid</h1>" in page
    assert '<p class="fact">topic &#34;topic-0&#34; &lt;was&gt; there</p>' in page
    assert '<section id="finding-1">' in page
    assert page.count('<a href="#finding-1"><title>') == 2
    assert f"kraftproof explain {tmp_path}" in page
    assert "&lt;was&gt;" in page
    assert "<was>" not in page
    assert page.count('class="named"') == 1
    assert '<a href="explanations/topic-0.html">' in page
    assert (directory.explanations / "topic-0.html").is_file()
    suite = ElementTree.parse(directory.junit).getroot()
    assert suite.tag == "testsuite"
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    assert cases["kraft/logs-agree"].find("failure") is None
    assert cases["topics/linearizable"].find("failure").get("message") == sentence
    assert suite.get("failures") == "2"
    text = directory.markdown.read_text()
    assert text.startswith("# invalid: topics on local")
    for part in ("## Versions", "## Schedule", "| f0 | kill | node 5 | 18.000 s | 22.000 s |"):
        assert part in text
    assert "- operation: 20 (events 40 and 41 of the history)" in text
    assert text.count("event=Tick") == 12
    assert "<was>" not in text
    assert json.loads((tmp_path / "run.json").read_text())["mutant_hash"] == "0" * 64
