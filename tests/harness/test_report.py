"""The report names the offending operation with what stood around it, and needs nothing else."""

import json
from xml.etree import ElementTree

from checkers.guards.figures import Figures
from checkers.verdict import Finding, FindingKind, RunVerdict, Verdict
from cluster.systems.system import Completion, Outcome
from kraftproof.history import FaultRecorder, HistoryRecorder
from kraftproof.interpreter import Interpreted
from kraftproof.options import RunOptions
from kraftproof.report import write_reports
from kraftproof.report.charts import charts
from kraftproof.report.context import BEFORE, contexts
from kraftproof.run_directory import RunDirectory
from kraftproof.runner import RunResult

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


def finding(sentence, index=OFFENDING):
    return Finding(
        check="topics/linearizable",
        kind=FindingKind.SAFETY,
        key="topic-0",
        operation_index=index,
        sentence=sentence,
    )


def test_the_context_is_the_same_key_before_and_after_and_what_the_sentence_names(tmp_path):
    directory = RunDirectory(path=tmp_path)
    run = recorded(directory)
    found = [finding("it contradicts operation 0"), finding("again"), finding("apart", 4)]
    first, second = contexts(found, directory.history, run.faults, 0)
    assert first.sentences == ("it contradicts operation 0", "again")
    indices = [line.index for line in first.lines]
    assert indices == [0, *range(OFFENDING - 2 * BEFORE, 24, 2)]
    (named,) = [line for line in first.lines if line.is_named]
    assert named.index == OFFENDING
    assert named.faults == "kill 5"
    assert (named.status, named.said, named.took_ms) == ("ok", "outcome=absent", 100.0)
    assert first.lines[1].faults == ""
    assert second.index == 4


def test_no_finding_names_an_operation(tmp_path):
    assert contexts([], tmp_path / "absent", (), 0) == ()


def test_ticks_are_round_numbers(tmp_path):
    run = recorded(RunDirectory(path=tmp_path))
    assert [tick.label for tick in charts(run).ticks] == [f"{n} s" for n in range(0, 25, 2)]


def test_the_page_and_the_junit_of_an_invalid_run(tmp_path):
    directory = RunDirectory(path=tmp_path)
    run = recorded(directory)
    options = RunOptions(nemeses=("kill",))
    directory.write_run(options, "topics", 2000, "0" * 64)
    sentence = 'topic "topic-0" <was> there'
    check = RunVerdict(
        history="h",
        model="topics",
        verdict=Verdict.INVALID,
        seconds=0.5,
        operations=24,
        findings=(finding(sentence),),
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
    write_reports(RunResult(directory=directory, check=check, run=run))
    page = directory.report.read_text()
    assert ">invalid</h1>" in page
    assert f"Operation {OFFENDING}, key topic-0" in page
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
    assert json.loads((tmp_path / "run.json").read_text())["mutant_hash"] == "0" * 64
