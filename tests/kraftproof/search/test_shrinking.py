"""Shrinking takes away all that a failure does not need.

Whether a scenario fails is a function of it here, so that the smallest one is known: a pause of
node 2 for a second, and operation 7. That real runs shrink: test_violation.py.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from kraftproof.checkers.verdict import Finding, FindingKind, RunVerdict, Verdict
from kraftproof.cluster.simulated.violation import Violation
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled
from kraftproof.run.backends import Simulation
from kraftproof.run.directory import RunDirectory
from kraftproof.run.interpreter.interpreter import Interpreted
from kraftproof.run.operations import DoneOperations
from kraftproof.run.runner import RunResult
from kraftproof.search.scenario import scenario
from kraftproof.search.seed_result import SeedResult
from kraftproof.search.shrinking import BudgetSpentError, Shrinking

TENTH_NS = SECOND_NS // 10


class Shrunk(Shrinking):
    """Asks the function below for what comes of a run."""

    def _attempt(self, one):
        return outcome(one, is_judged=self.best.violation is None)


class NeedsAnEarlyKill(Shrunk):
    """A run fails only if node 1 is killed as well, in the schedule's first fault."""

    def _attempt(self, one):
        fault = next((each.fault for each in one.schedule), None)
        short = replace(one, schedule=()) if fault != Kill(target=1) else one
        return replace(outcome(short, is_judged=self.best.violation is None), scenario=one)


def outcome(one, *, is_judged):
    options = one.options
    pauses = [
        fault.at_ns + SECOND_NS
        for fault in one.schedule
        if fault.fault == Pause(target=2) and fault.until_ns - fault.at_ns >= SECOND_NS
    ]
    limit_ns = int(options.time_limit_s * SECOND_NS)
    named = options.operations
    fails = any(at_ns <= limit_ns for at_ns in pauses) and (named is None or 7 in named)
    violation = Violation(
        invariant="Broken",
        sentence="s",
        node=2,
        time_ns=max(pauses, default=0),
        detail="",
        event=1,
    )
    finding = Finding(check="Broken", kind=FindingKind.SAFETY, sentence="s")
    check = RunVerdict(
        history="h",
        model="m",
        verdict=Verdict.INVALID if fails else Verdict.VALID,
        seconds=0,
        operations=int(options.time_limit_s * options.rate) if named is None else len(named),
        findings=(finding,) if fails and is_judged else (),
    )
    violations = (violation,) if fails and not is_judged else ()
    result = RunResult(
        directory=RunDirectory(path=Path("store")),
        check=check,
        run=Interpreted(
            started_ns=0, ended_ns=limit_ns, unread_keys=0, operations=DoneOperations(), faults=()
        ),
        simulation=Simulation(events=1, simulated_ns=limit_ns, violations=violations),
    )
    return SeedResult(seed=options.seed, scenario=one, result=result, cpu_s=0.0)


def failing(*, is_judged):
    """A run of twenty seconds with five faults, of which the third matters."""
    faults = [Kill(target=1), Pause(target=3), Pause(target=2), Kill(target=3), Pause(target=1)]
    schedule = tuple(
        Scheduled(
            name=f"f{place}",
            kind=fault.kind,
            at_ns=(2 + 3 * place) * SECOND_NS + 12_345,
            until_ns=(4 + 3 * place) * SECOND_NS + 54_321,
            fault=fault,
        )
        for place, fault in enumerate(faults)
    )
    one = scenario(1, Path("store"), nodes=(3, 3))
    options = replace(one.options, time_limit_s=20.0, rate=40.0, concurrency=5)
    return outcome(replace(one, options=options, schedule=schedule), is_judged=is_judged)


@pytest.mark.parametrize("is_judged", [False, True])
def test_what_a_failure_does_not_need_goes(is_judged):
    told = []
    work = Shrunk(failing(is_judged=is_judged), None, 60, lambda found, runs: told.append(runs))
    work.run()
    best, options = work.best.scenario, work.best.scenario.options
    (fault,) = best.schedule
    assert fault.fault == Pause(target=2)
    assert fault.at_ns % TENTH_NS == fault.until_ns % TENTH_NS == 0
    assert SECOND_NS <= fault.until_ns - fault.at_ns <= 1.4 * SECOND_NS
    assert options.operations == (7,)
    assert (options.controllers, options.brokers) == (3, 1)
    assert (options.concurrency, options.rate) == (1, 20.0)
    assert told == sorted(told)
    assert 0 < len(told) < work.runs


@pytest.mark.simulation
@pytest.mark.parametrize("check", ["Broken", "kraft/logs-agree"])
def test_a_candidate_is_run_and_its_files_are_read_only_for_what_they_show(tmp_path, check):
    first = failing(is_judged=True)
    finding = Finding(check=check, kind=FindingKind.SAFETY, sentence="s")
    verdict = structs.replace(first.result.check, findings=(finding,))
    first = replace(first, result=replace(first.result, check=verdict))
    one = scenario(4, tmp_path, nodes=(1, 1))
    one = replace(one, schedule=(), options=replace(one.options, time_limit_s=2.0))
    found = Shrinking(first, None, 60, lambda found, runs: None)._attempt(one)
    assert (found.seed, found.scenario, found.reasons) == (4, one, ())
    assert found.result.check.operations > 0
    are_read = any(name.startswith("kraft/") for name in found.result.check.checked)
    assert are_read == check.startswith("kraft/")
    assert found.result.run.ended_ns - found.result.run.started_ns >= 2 * SECOND_NS
    assert list(tmp_path.iterdir()) == []


def test_an_invariants_run_ends_with_its_violation():
    work = Shrunk(failing(is_judged=False), None, 60, lambda found, runs: None)
    work.run()
    (fault,) = work.best.scenario.schedule
    assert work.best.scenario.options.time_limit_s == (fault.at_ns + SECOND_NS) / SECOND_NS


@pytest.mark.parametrize("is_judged", [False, True])
def test_faults_go_that_stand_between_those_that_are_needed(is_judged):
    work = NeedsAnEarlyKill(failing(is_judged=is_judged), None, 60, lambda found, runs: None)
    work.run()
    faults = [each.fault for each in work.best.scenario.schedule]
    assert faults == [Kill(target=1), Pause(target=2)]


def test_a_judged_run_is_cut_while_a_shorter_one_fails():
    work = Shrunk(failing(is_judged=True), None, 60, lambda found, runs: None)
    work.run()
    assert work.best.scenario.options.time_limit_s < 4


def test_a_spent_budget_ends_it():
    work = Shrunk(failing(is_judged=True), None, -1, lambda found, runs: None)
    with pytest.raises(BudgetSpentError):
        work.run()
    assert work.runs == 0
