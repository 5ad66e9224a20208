"""The workloads of partitions on simulated brokers, which then keep replicas."""

import pytest

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("workload", ["log", "log-topics"])
def test_a_run_of_partitions_is_valid_under_kills_and_pauses(kraftproof_run, workload):
    run = kraftproof_run(
        backend="simulated", workload=workload, nemesis="kill,pause", time_limit_s=30.0, seed=1
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 500
    assert all(count >= 2 for count in dict(run.figures.bitten).values())
