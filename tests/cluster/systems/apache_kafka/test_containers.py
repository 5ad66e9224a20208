"""A run of real Kafka in containers, whose links and clocks have faults, too."""

from pathlib import Path

import pytest

from tests.kafka.runs import run

pytestmark = [pytest.mark.docker, pytest.mark.kafka, pytest.mark.long]


def test_every_fault_of_the_docker_backend_has_an_effect(tmp_path: Path) -> None:
    faults = ("--nemesis", "kill,pause,partition,clock", "--fault-every", "6", "--min-bites", "1")
    where = ("--system", "apache-kafka", "--backend", "docker", "--time-limit", "40")
    result = run(tmp_path, *where, *faults)
    assert result["verdict"] == "valid", str(result)
    assert set(result["bitten"]) == {"kill", "pause", "partition", "clock"}
