"""The workloads of replicas and configurations on live nodes: of ours, and of Apache Kafka."""

import pytest

WORKLOADS = ("reassignment", "controlled-shutdown", "configs")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_short_run_on_local_nodes_is_valid(kraftproof_run, workload):
    run = kraftproof_run(
        backend="local", workload=workload, nemesis="none", time_limit_s=5.0, seed=1
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 100


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_short_run_on_apache_kafka_is_valid(kraftproof_run, workload):
    run = kraftproof_run(
        backend="local",
        system="apache-kafka",
        workload=workload,
        nemesis="none",
        time_limit_s=10.0,
        seed=1,
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 100


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_run_in_containers_is_valid_under_restarts(kraftproof_run, workload):
    run = kraftproof_run(
        backend="docker", workload=workload, nemesis="restart", time_limit_s=30.0, seed=1
    )
    assert run.verdict == "valid", run.why
