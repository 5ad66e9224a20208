"""The benchmark of the simulation: runs with replicas, also of more partitions than a table has."""

import pytest

from bench.simulation.runs import run
from bench.simulation.workloads import CreatesAndProduces


@pytest.mark.simulation
def test_records_are_produced_while_topics_come_and_go() -> None:
    one = run(0, 20.0, 5.0, workload=CreatesAndProduces(produces=50.0))
    assert one.committed > 5 * 50, "more than the creations alone"


@pytest.mark.simulation
@pytest.mark.long
def test_two_hundred_partitions_of_a_broker_are_no_violation() -> None:
    one = run(0, 20.0, 12.0, workload=CreatesAndProduces(produces=5.0, deletes=False))
    assert one.committed > 200
