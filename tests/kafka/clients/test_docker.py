"""The clients and some of Kafka's tools against a cluster of containers."""

from pathlib import Path

import pytest

from kraftproof.cluster.docker.docker_cluster import DockerCluster
from scripts.clients_page import CLIENTS as NAMES
from scripts.clients_page import TABLE, read_cells
from tests.kafka.clients.rows import NOT_OFFERED, ROWS, outcome
from tests.kafka.clients.test_clients import make_clients
from tests.kafka.clients.test_kafka_tools import CONFIGS, REASSIGN, TOPICS, plan, run_tool
from tests.kafka.clients.trio import running
from tests.kafka.java import Java

pytestmark = pytest.mark.kafka
CALLS = (
    "produce_acks_all",
    "produce_idempotent",
    "consume_assigned",
    "consume_stored",
    "describe_cluster",
    "alter_incremental",
    "create_partitions",
    "elect_leaders",
    "reassign",
    "committed",
    "transaction",
)


def test_clients_and_tools_work_against_containers(tmp_path: Path, java: Java) -> None:
    """The outcomes are those of docs/clients.md, where the brokers are processes."""
    expected = read_cells(TABLE)
    with running(tmp_path, DockerCluster) as trio, make_clients(trio, java) as clients:
        for name in NAMES:
            for row in CALLS:
                call = getattr(clients[name], row, None)
                found = NOT_OFFERED if call is None else outcome(call)
                assert found == expected[name, ROWS[row]], f"{name}: {row}"
        assignment = "--create --topic t --replica-assignment 2:3"
        assert "Created topic t" in run_tool(trio, java, TOPICS, assignment)
        key = "--entity-type brokers --entity-name 2 --alter --add-config log.retention.ms=90000"
        assert "Completed updating" in run_tool(trio, java, CONFIGS, key)
        (tmp_path / "plan.json").write_text(plan({"partition": 0, "replicas": [3, 4]}))
        file = f"--reassignment-json-file {tmp_path}/plan.json"
        assert "Successfully started" in run_tool(trio, java, REASSIGN, f"--execute {file}")
        assert "Status of partition" in run_tool(trio, java, REASSIGN, f"--verify {file}")
