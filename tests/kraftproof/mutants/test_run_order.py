"""The order of the runs of a search: what each run adds per CPU second."""

import pytest

from kraftproof.errors import UsageError
from kraftproof.mutants.run_order import (
    NEW_SEEDS,
    Executed,
    PlannedRun,
    by_gain,
    short_and_full,
    with_new_seeds,
)


def executed(seed, counts, *, workload=None, cpu_s=1.0):
    return Executed(PlannedRun(seed, workload), cpu_s, counts)


def seeds(runs):
    return [one.seed for one in runs]


def test_the_run_with_the_most_executions_comes_first():
    runs = [executed(1, {"a": 3}), executed(2, {"a": 90}), executed(3, {"b": 500})]
    assert seeds(by_gain(runs, {"a": 1.0})) == [2, 1]


def test_a_cheap_run_comes_before_a_dear_one():
    runs = [executed(1, {"a": 100}, cpu_s=8.0), executed(2, {"a": 50})]
    assert seeds(by_gain(runs, {"a": 1.0})) == [2, 1]


def test_another_place_counts_more_than_more_of_the_same():
    runs = [executed(1, {"a": 90}), executed(2, {"a": 80}), executed(3, {"a": 1, "b": 9})]
    assert seeds(by_gain(runs, {"a": 1.0, "b": 0.5})) == [1, 3, 2]


def test_another_workload_counts_anew():
    runs = [executed(1, {"a": 90}), executed(2, {"a": 80}), executed(3, {"a": 20}, workload="log")]
    assert seeds(by_gain(runs, {"a": 1.0})) == [1, 3, 2]


def test_another_seed_comes_before_the_same_seed_with_another_workload():
    runs = [executed(1, {"a": 90}), executed(1, {"a": 80}, workload="log")]
    runs.append(executed(2, {"a": 60}, workload="tokens"))
    assert seeds(by_gain(runs, {"a": 1.0})) == [1, 2, 1]


def test_each_run_is_taken_once_also_if_it_adds_nothing():
    runs = [executed(seed, {"a": 1}) for seed in range(40)]
    assert sorted(seeds(by_gain(runs, {"a": 1.0}))) == list(range(40))


def test_runs_shorter_than_a_short_one_keep_their_length():
    assert short_and_full([PlannedRun(1)], 5.0) == [PlannedRun(1, None, 5.0)]


def test_new_seeds_have_the_workloads_of_the_plan_in_turns():
    first = [PlannedRun(3, "log", 20.0), PlannedRun(1, None, 20.0), PlannedRun(4, "log", 60.0)]
    runs = with_new_seeds(first, 60.0)
    assert runs[:3] == first
    assert [(one.seed - NEW_SEEDS.start, one.workload) for one in runs[3:6]] == [
        (0, "log"),
        (0, None),
        (1, "log"),
    ]
    assert {one.time_limit_s for one in runs[3:]} == {60.0}


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("7", PlannedRun(7)),
        ("7:log", PlannedRun(7, "log")),
        ("7::20", PlannedRun(7, None, 20.0)),
        ("7:log:2.5", PlannedRun(7, "log", 2.5)),
    ],
)
def test_a_run_is_read_as_it_is_written(text, run):
    assert PlannedRun.of(text) == run
    assert str(run) == text


@pytest.mark.parametrize("text", ["", "x", "-1", "7:log:a", "7:log:2:3", "7:log:1.2.3"])
def test_another_text_is_no_run(text):
    with pytest.raises(UsageError, match="SEED:WORKLOAD:SECONDS"):
        PlannedRun.of(text)
