"""The workloads of partitions on simulated brokers, which then keep replicas."""

import json

import pytest

from tests.support.command import call
from tests.support.long_cases import long

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("workload", ["log", long("log-topics")])
def test_a_run_of_partitions_is_valid_under_kills_and_pauses(kraftproof_run, workload):
    run = kraftproof_run(
        backend="simulated", workload=workload, nemesis="kill,pause", time_limit_s=30.0, seed=1
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 500
    assert all(count >= 2 for count in dict(run.figures.bitten).values())


@pytest.mark.parametrize(
    "workload", ["reassignment", *map(long, ["controlled-shutdown", "configs"])]
)
def test_moves_restarts_and_settings_are_valid_under_restarts(kraftproof_run, workload):
    run = kraftproof_run(
        backend="simulated", workload=workload, nemesis="restart", time_limit_s=25.0, seed=3
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 500


@pytest.mark.long
@pytest.mark.parametrize("seed", [9, 24, 26, 3920005])
def test_a_search_loses_no_acknowledged_record_with_its_disks(tmp_path, seed):
    """The seeds lose writes that were not synced, or restart with hundreds of logs.

    In the last one a full disk takes a whole batch, and then fails.
    """
    arguments = ("--seeds", seed, "--bare", "--json", "--store", tmp_path)
    found = json.loads(call("sim", "--workload", "log", *arguments).stdout.splitlines()[-1])
    assert (found["seeds"], found["violations"], found["unknown"]) == (1, [], 0)


@pytest.mark.parametrize(
    ("workload", "seed"),
    [
        ("log", 2710031),
        long("log", 1810087),
        long("log", 1810125),
        long("log-topics", 1850002),
        long("log-topics", 1850004),
        long("log-topics", 1850011),
    ],
)
def test_a_partition_that_faults_left_empty_is_sent_to_and_read_at_the_end(
    tmp_path, workload, seed
):
    """The faults of the seeds leave partitions without an acknowledged send or a whole read."""
    arguments = ("--seeds", seed, "--bare", "--json", "--store", tmp_path)
    found = json.loads(call("sim", "--workload", workload, *arguments).stdout.splitlines()[-1])
    assert (found["seeds"], found["violations"], found["unknown"]) == (1, [], 0)


def test_a_run_with_flushed_appends_declares_no_loss(tmp_path):
    arguments = ("--backend", "simulated", "--workload", "log", "--nemesis", "none")
    durable = ("--node-config", "log.flush.interval.messages=1", "--time-limit", 5)
    call("test", *arguments, *durable, "--store", tmp_path)
    (run,) = tmp_path.glob("*/run.json")
    assert json.loads(run.read_bytes())["guarantees"]["send"] == "linearizable"
