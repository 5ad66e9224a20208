"""Nodes of a mixed cluster: the words of --nodes, the files of both systems, and refusals."""

import sys
from pathlib import Path

import pytest

from kraftproof.cluster.protocol import Address, ClusterOptions
from kraftproof.cluster.systems.deployment import Deployment, Site
from kraftproof.cluster.systems.kafka.quorum import cluster_id
from kraftproof.cluster.systems.mixed.system import MixedSystem
from kraftproof.cluster.systems.system import SystemUnavailableError
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan
from kraftproof.run.run_nodes import nodes_of_run
from tests.support.command import run


def roles(nodes: str) -> list[tuple[str, ...]]:
    given = RunOptions(system="mixed", nodes=nodes)
    return [node.roles for node in nodes_of_run(given, MixedSystem())]


def deployments(nodes: str, seed: int = 3) -> dict[int, Deployment]:
    """Return the deployment of each node."""
    system, given = MixedSystem(), RunOptions(system="mixed", nodes=nodes)
    infos = nodes_of_run(given, system)
    addresses = {
        node.node_id: {
            name: Address(host=f"198.18.0.{node.node_id}", port=port, peer_host=f"n{node.node_id}")
            for name, port in system.ports(node).items()
        }
        for node in infos
    }
    options = ClusterOptions(nodes=infos, seed=seed, directory=Path("run"))
    return {
        node.node_id: system.deployment(
            Site(
                node=node,
                nodes=infos,
                directory=Path("/run/nodes/1"),
                python="python3",
                addresses=addresses,
                options=options,
            )
        )
        for node in infos
    }


def test_a_system_alone_names_a_voter_and_kafkas_serves_clients() -> None:
    ours, kafkas = ("reference", "controller"), ("apache-kafka", "controller", "broker")
    assert roles("") == roles("reference=2,apache-kafka=1") == [ours, ours, kafkas]
    assert roles("reference+controller=1,apache-kafka+broker=1") == [
        ours,
        ("apache-kafka", "broker"),
    ]


def test_all_voters_have_the_same_voters_cluster_and_level() -> None:
    made = deployments("reference=2,apache-kafka=1")
    for deployment in made.values():
        voters = "controller.quorum.voters=1@n1:9093,2@n2:9093,3@n3:9093\n"
        assert voters in deployment.files["server.properties"]
    ours, kafkas = made[1], made[3]
    assert "listeners=CONTROLLER://198.18.0.1:9093\n" in ours.files["server.properties"]
    assert "PLAINTEXT://198.18.0.3:9092" in kafkas.files["server.properties"]
    (format_ours,), (format_kafkas, _) = ours.setup, kafkas.setup  # and a flush of the directory
    assert format_kafkas[-2:] == ("--release-version", "3.9-IV0")
    assert format_ours[-1] in format_kafkas


def test_the_id_of_a_cluster_may_begin_with_a_hyphen(tmp_path: Path) -> None:
    seed = next(seed for seed in range(1000) if cluster_id(seed).startswith("-"))
    ours = deployments("reference=1,apache-kafka=1", seed)[1]
    ((_, *arguments),) = ours.setup
    arguments[arguments.index("-c") + 1] = str(tmp_path / "server.properties")
    own = ours.files["server.properties"].replace("/run/nodes/1", str(tmp_path))
    (tmp_path / "server.properties").write_text(own)
    done = run([sys.executable], *arguments)
    assert done.returncode == 0, done.stderr
    meta = (tmp_path / "data" / "meta.properties").read_text()
    assert f"cluster.id={cluster_id(seed)}\n" in meta


def test_our_broker_finds_the_port_of_kafkas_controllers() -> None:
    broker = deployments("apache-kafka=1,reference+broker=1")[2]
    assert "controller.quorum.voters=1@n1:9093\n" in broker.files["server.properties"]
    assert "listeners=PLAINTEXT://198.18.0.2:9092\n" in broker.files["server.properties"]


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("controller=3,broker=3", "--nodes controller: the system mixed needs one of reference"),
        ("reference+apache-kafka=1", "--nodes reference+apache-kafka: the system mixed needs one"),
        ("reference+controller+broker=1", "--nodes reference+controller+broker: a node of the"),
        ("reference=3", "--nodes: the system mixed needs at least one broker"),
    ],
)
def test_nodes_that_are_no_mixed_cluster_are_refused(nodes: str, said: str) -> None:
    with pytest.raises(SystemUnavailableError) as refused:
        plan(RunOptions(system="mixed", nodes=nodes))
    assert str(refused.value).startswith(said)


def test_a_role_that_no_node_has_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown role 'observer': the roles of the system mixed"):
        plan(RunOptions(system="mixed", nodes="reference+observer=1"))


@pytest.mark.parametrize("version", ["", "3.2.0", "3.8.1"])
def test_a_mixed_cluster_names_the_releases_that_know_its_level(version: str) -> None:
    with pytest.raises(SystemUnavailableError) as refused:
        plan(RunOptions(system="mixed", system_version=version))
    said = str(refused.value)
    assert said.startswith(f"--system-version: Kafka {version!r} can't run here, only 3.9.0, 3.9.1")
    assert said.endswith(
        "4.3.0 (a mixed cluster writes metadata.version 3.9-IV0, which Kafka has since 3.9.0)"
    )


def test_a_setting_that_our_node_lacks_and_a_workload_without_clients_are_refused() -> None:
    with pytest.raises(SystemUnavailableError, match=r"^--node-config num\.io\.threads: a run"):
        plan(RunOptions(system="mixed", node_config=(("num.io.threads", "2"),)))
    with pytest.raises(UsageError, match=r"^--workload register: the clients of the system mixed"):
        plan(RunOptions(system="mixed", workload="register"))
