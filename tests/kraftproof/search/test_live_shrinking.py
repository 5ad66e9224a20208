"""A run of a live cluster is reduced to the faults that it needs, though runs are not equal."""

from random import Random

import pytest

from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled
from kraftproof.options import RunOptions
from kraftproof.search.live_shrinking import LiveShrinking, Tried
from kraftproof.search.shrinking import BudgetSpentError
from tests.support.command import KRAFTPROOF, call, one_line, run


def pause(number, at_s, node=1):
    return Scheduled(
        name=f"f{number}",
        kind="pause",
        at_ns=at_s * SECOND_NS,
        until_ns=(at_s + 2) * SECOND_NS,
        fault=Pause(target=node),
    )


SCHEDULE = tuple(pause(number, 5 + 4 * number, node=1 + number % 3) for number in range(6))
OPTIONS = RunOptions(time_limit_s=60, nemeses=("pause",), fault_every_s=4.0)


class Cluster:
    """Shows the finding in a share of the runs that pause node 2, a second after the pause."""

    def __init__(self, folder, share=1.0):
        self.folder = folder
        self.random = Random(1)
        self.share = share
        self.runs = 0

    def attempt(self, options, schedule):
        self.runs += 1
        path = self.folder / f"run{self.runs}"
        path.mkdir()
        ends = [one.until_ns / SECOND_NS for one in schedule if one.fault.target == 2]
        is_found = bool(ends) and self.random.random() < self.share
        return Tried(
            options=options,
            schedule=schedule,
            path=path,
            findings=("register/linearizable",) if is_found else ("other",),
            after_s=ends[0] + 1 if is_found else None,
        )


def shrinking(cluster, tries=1, budget_s=60.0):
    first = Tried(
        options=OPTIONS,
        schedule=SCHEDULE,
        path=cluster.folder / "given",
        findings=("register/linearizable",),
        after_s=28.0,
    )
    first.path.mkdir()
    shown = []
    work = LiveShrinking(
        first,
        cluster.attempt,
        tries=tries,
        budget_s=budget_s,
        on_smaller=lambda smaller, runs: shown.append((smaller.path, runs)),
    )
    return work, shown


def test_one_fault_is_left_at_the_start_of_a_short_run(tmp_path):
    work, shown = shrinking(Cluster(tmp_path))
    work.run()
    [fault] = work.best.schedule
    assert fault.fault == Pause(target=2)
    assert fault.at_ns == SECOND_NS
    assert work.best.options.time_limit_s < 10
    assert shown[-1] == (work.best.path, work.runs - 1) or shown[-1] == (work.best.path, work.runs)


def test_only_the_given_run_and_the_smallest_are_left(tmp_path):
    work, _ = shrinking(Cluster(tmp_path))
    work.run()
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "given", work.best.path])


def test_more_tries_find_what_shows_itself_seldom(tmp_path):
    once, often = tmp_path / "once", tmp_path / "often"
    once.mkdir()
    often.mkdir()
    few, _ = shrinking(Cluster(once, share=0.3), tries=1)
    many, _ = shrinking(Cluster(often, share=0.3), tries=20)
    few.run()
    many.run()
    assert len(many.best.schedule) == 1
    assert len(few.best.schedule) > 1


def test_without_time_the_given_run_is_the_result(tmp_path):
    work, _ = shrinking(Cluster(tmp_path), budget_s=-1)
    with pytest.raises(BudgetSpentError):
        work.run()
    assert (work.best.path, work.runs) == (tmp_path / "given", 0)


@pytest.mark.long
def test_the_command_reduces_a_run_of_test(tmp_path):
    options = ("--backend", "simulated", "--seed", "3", "--time-limit", "20", "--mutant", "A1")
    assert run(KRAFTPROOF, "test", *options, "--store", tmp_path).returncode == 1
    [directory] = tmp_path.iterdir()
    done = run(KRAFTPROOF, "shrink", directory, "--store", tmp_path, "--tries", "1")
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()[-3:-1]
    assert before == "before  2 faults, 20 s"
    assert after.startswith("after   0 faults, ")
    smallest = done.stdout.splitlines()[-1].rpartition(" ")[2]
    assert run(KRAFTPROOF, "replay", smallest, "--times", "1").returncode == 1


def test_a_run_without_a_finding_is_refused_in_one_line(tmp_path):
    options = ("--backend", "simulated", "--nemesis", "none", "--time-limit", "1")
    call("test", *options, "--store", tmp_path)
    [directory] = tmp_path.iterdir()
    line = one_line(call("shrink", directory), 3)
    assert line.endswith("the run has no finding, so it can't be shrunk")
