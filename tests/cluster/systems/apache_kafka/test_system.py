"""Apache Kafka as a system: its nodes' properties, its refusals and its errors, without a JVM."""

from pathlib import Path

import pytest

from kraftproof.cluster.protocol import Address, ClusterOptions, nodes_of
from kraftproof.cluster.systems.apache_kafka import deployment as deployments
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.cluster.systems.deployment import Site
from kraftproof.cluster.systems.outcome import Outcome
from kraftproof.cluster.systems.system import SystemUnavailableError
from kraftproof.images.kafka import RELEASES
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan
from kraftproof.run.run_nodes import nodes_of_run
from tests.support.command import call, one_line


def properties_of(nodes: str, place: int, **settings: str) -> dict[str, str]:
    """Return the server.properties of a node by its place."""
    system, given = ApacheKafka(), RunOptions(system="apache-kafka", nodes=nodes)
    infos = nodes_of_run(given, system)
    options = ClusterOptions(
        nodes=infos, seed=3, directory=Path("run"), node_config=tuple(settings.items())
    )
    addresses = {
        node.node_id: {
            name: Address(host=f"198.18.0.{node.node_id}", port=port, peer_host=f"n{node.node_id}")
            for name, port in system.ports(node).items()
        }
        for node in infos
    }
    site = Site(
        node=infos[place],
        nodes=infos,
        directory=Path("/run/nodes/1"),
        python="python3",
        addresses=addresses,
        options=options,
        sees_machine=True,
    )
    lines = deployments.server_properties(site).splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_number_means_nodes_with_both_roles_which_name_the_voters() -> None:
    found = properties_of("3", 1)
    assert found["process.roles"] == "broker,controller"
    assert found["controller.quorum.voters"] == "1@n1:9093,2@n2:9093,3@n3:9093"
    assert found["listeners"] == "PLAINTEXT://198.18.0.2:9092,CONTROLLER://198.18.0.2:9093"
    assert found["advertised.listeners"] == "PLAINTEXT://198.18.0.2:9092", "for clients on the host"
    assert found["broker.session.timeout.ms"] == "2000"


def test_two_numbers_mean_controllers_and_brokers() -> None:
    controller, broker = properties_of("2+1", 0), properties_of("2+1", 2)
    assert (controller["process.roles"], broker["process.roles"]) == ("controller", "broker")
    assert controller["listeners"] == "CONTROLLER://198.18.0.1:9093"
    assert "advertised.listeners" not in controller
    assert broker["controller.quorum.voters"] == "1@n1:9093,2@n2:9093"
    assert broker["listeners"] == "PLAINTEXT://198.18.0.3:9092"


def test_a_setting_of_the_run_replaces_ours() -> None:
    found = properties_of("1", 0, **{"num.io.threads": "5", "log.segment.ms": "9"})
    assert (found["num.io.threads"], found["log.segment.ms"]) == ("5", "9")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({"server": 3}, "--nodes server: a node of apache-kafka is controller, broker or"),
        ({"broker": 3}, "--nodes: the system apache-kafka needs at least one controller"),
        ({"controller": 3}, "--nodes: the system apache-kafka needs at least one broker"),
    ],
)
def test_nodes_that_are_no_cluster_are_refused(nodes: dict[str, int], said: str) -> None:
    options = ClusterOptions(nodes=nodes_of(**nodes), seed=1, directory=Path("run"))
    with pytest.raises(SystemUnavailableError) as refused:
        ApacheKafka().refuse(options)
    assert str(refused.value).startswith(said)


STRANGE = ("3.4.7", "9.9.9", "3.2.0", "latest", "", "4.3", "4.3.0-rc1", "../x", " 4.3.0")
"""Texts that name no release that can run here."""


@pytest.mark.parametrize("version", STRANGE)
def test_a_release_that_cannot_run_is_refused_with_those_that_can(version: str) -> None:
    with pytest.raises(SystemUnavailableError) as refused:
        plan(RunOptions(system="apache-kafka", system_version=version))
    can = ", ".join(RELEASES)
    assert str(refused.value) == f"--system-version: Kafka {version!r} can't run here, only {can}"


@pytest.mark.parametrize(
    ("option", "value"), [("--system", "apache-kafka:3.2.0"), ("--nodes", "apache-kafka:3.9.0=1")]
)
def test_a_release_in_another_option_is_told_its_place(option: str, value: str) -> None:
    line = one_line(call("test", option, value, "--dry-run"), 3)
    assert "a release is given by --system-version VERSION" in line


def test_no_java_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SystemUnavailableError, match=r"there is no java on PATH or in JAVA_HOME"):
        deployments.local_java()


@pytest.mark.parametrize("error", [ErrorCode.NOT_CONTROLLER, ErrorCode.INVALID_REPLICATION_FACTOR])
def test_an_error_of_the_state_does_not_say_that_nothing_was_done(error: ErrorCode) -> None:
    # A broker repeats a forwarded request (KIP-590): an earlier try may have done the operation.
    assert ApacheKafka.errors.of("create", error) is Outcome.INFO
    assert ApacheKafka.errors.of("lookup", error) is Outcome.FAIL
    assert ApacheKafka.errors.of("create", ErrorCode.INVALID_CONFIG) is Outcome.FAIL
