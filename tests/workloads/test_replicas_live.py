"""The workloads of replicas and configurations on live nodes: of ours, and of Apache Kafka."""

import json

import pytest

from kraftproof.cluster.systems.kafka import files

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


def stuck_moves(run):
    """The partitions with a broker that is added and removed at once: see docs/findings/0004."""
    names, under_way = {}, {}
    for row in files.records(run.directory.path / "nodes" / "1", 1):
        value = json.loads(row["json"])
        if row["type"] == "TOPIC_RECORD":
            names[value["topicId"]] = value["name"]
        elif row["type"] in {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD"}:
            place = (value["topicId"], value["partitionId"])
            fields = ("addingReplicas", "removingReplicas")
            given = {name: set(value[name]) for name in fields if value.get(name) is not None}
            under_way.setdefault(place, {key: set() for key in fields}).update(given)
    return {
        f"{names[topic]}-{index}"
        for (topic, index), moved in under_way.items()
        if set.intersection(*moved.values())
    }


def unexplained(run):
    """The findings that neither a promise of Kafka nor a move that never ends explains."""
    stuck = stuck_moves(run)
    return [
        finding.sentence
        for finding in run.findings
        if "which is declared" not in finding.sentence
        and not (finding.check == "log/settled" and finding.key in stuck)
    ]


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
    assert run.verdict != "unknown", run.why
    assert unexplained(run) == []
    assert run.verdict == "valid" or run.findings, run.why
    assert run.figures.ok > 100


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_run_in_containers_is_valid_under_restarts(kraftproof_run, workload):
    run = kraftproof_run(
        backend="docker", workload=workload, nemesis="restart", time_limit_s=30.0, seed=1
    )
    assert run.verdict == "valid", run.why
