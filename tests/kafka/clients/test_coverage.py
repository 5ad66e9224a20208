"""Each method of an administration client is called for docs/clients.md."""

import inspect
import re
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from confluent_kafka.admin import AdminClient
from kafka.admin import KafkaAdminClient

from tests.kafka.java import Java
from tests.kafka.java_host.host import SOURCES

pytestmark = pytest.mark.kafka
HERE = Path(__file__).resolve().parent
HELPERS = {
    "close",
    "start",
    # confluent-kafka: its own events, a credential of its own, and older names
    "cluster_id",
    "list_groups",
    "poll",
    "set_sasl_credentials",
    # kafka-python: api_versions for one broker, and a loop around the metadata
    "get_broker_version_data",
    "wait_for_topics",
    # aiokafka: part of each call about a group
    "find_coordinator",
    # Java
    "clientInstanceId",  # only with telemetry, which an Admin does not send by default
    "create",
    "metrics",
    "registerMetricForSubscription",
    "unregisterMetricFromSubscription",
}
"""Methods that are no calls to a cluster of their own."""


def called(*sources: Path) -> set[str]:
    """Return the names that sources call on an administration client."""
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    return set(re.findall(r"admin\s*\.\s*(\w+)", text))


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        (AdminClient, ["confluent.py", "confluent_groups.py"]),
        (KafkaAdminClient, ["kafka_python.py", "kafka_python_groups.py"]),
        (AIOKafkaAdminClient, ["aio.py"]),
    ],
)
def test_each_method_of_a_client_of_python_is_called(kind: type, files: list[str]) -> None:
    methods = {
        name
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and callable(member)
    }
    assert len(methods) > len(HELPERS) // 2
    assert methods - HELPERS <= called(*(HERE / file for file in files))


def test_each_method_of_the_java_client_is_called(java: Java) -> None:
    """The method that needs no cluster prints the names."""
    assert java.host is not None
    done = java.host.run("Calls", "print_admin_methods", "127.0.0.1:9", "unused")
    *names, end = done.output.splitlines()
    assert end == "works"
    assert len(set(names)) > len(HELPERS)
    assert set(names) - HELPERS <= called(*SOURCES)
