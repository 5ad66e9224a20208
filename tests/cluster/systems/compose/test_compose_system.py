"""The services of a Compose file as nodes: names, ports, order, client, and refusals."""

from pathlib import Path

import pytest

from kraftproof import cli
from kraftproof.cluster.compose_reference import absolute_system
from kraftproof.cluster.plugin import PluginLoadError
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import SystemUnavailableError
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions
from kraftproof.run.planning import foreseen, plan
from kraftproof.run.run_nodes import nodes_of_run

FILE = """
services:
  db: {image: a, ports: ["1:6000", 6001], scale: 2, hostname: primary, restart: always}
  web: {image: b, expose: [80], depends_on: [db]}
"""
CLIENT = """
from kraftproof.cluster.systems.compose.client import ComposeClient

class Mine(ComposeClient):
    workloads = ("register",)
    ready_s = 7.0

class Other: pass
"""


@pytest.fixture
def reference(tmp_path: Path) -> str:
    (tmp_path / "docker-compose.yml").write_text(FILE)
    (tmp_path / "client.py").write_text(CLIENT)
    client = str(tmp_path / "client.py:Mine")
    return absolute_system(f"compose:{tmp_path}/docker-compose.yml", client)


def test_each_service_is_a_role_whose_nodes_are_reached_by_its_name(reference: str) -> None:
    system = make_system(reference)
    options = RunOptions(system=reference, backend="docker", workload="register")
    nodes = nodes_of_run(options, system)
    assert [node.name for node in nodes] == ["db-1", "db-2", "web-3"]
    assert [system.host_names(node) for node in nodes] == [
        ("db", "db-1", "primary"),
        ("db-2",),
        ("web", "web-1"),
    ]
    assert system.ports(nodes[0]) == {"client": 6000, "6001": 6001}
    assert (system.ready_s, system.workloads) == (7.0, ("register",))
    schedule = plan(options)
    (left_out,) = [one for one in foreseen(schedule, options) if "left out" in one]
    assert left_out == "docker-compose.yml: service db: left out: restart"


def test_the_file_may_name_its_client(reference: str, tmp_path: Path) -> None:
    path = tmp_path / "docker-compose.yml"
    path.write_text("x-kraftproof: {client: 'client.py:Mine'}\n" + FILE)
    assert make_system(f"compose:{path}").workloads == ("register",)


@pytest.mark.parametrize(
    ("client", "said"),
    [
        (None, "docker-compose.yml: no client: give --client path/to/file.py:Class, or name it"),
        ("client.py:Other", "client.py:Other: not a subclass of ComposeClient"),
        ("client.py:None_", "client.py:None_: "),
        ("client.py", "client.py: a file, give its class too, as in "),
    ],
)
def test_a_client_that_is_none(
    client: str | None, said: str, reference: str, tmp_path: Path
) -> None:
    named = None if client is None else f"{tmp_path}/{client}"
    with pytest.raises((SystemUnavailableError, PluginLoadError)) as refused:
        make_system(absolute_system(f"compose:{tmp_path}/docker-compose.yml", named))
    assert said in str(refused.value)


def test_other_backends_nodes_workloads_and_faults_are_refused(reference: str) -> None:
    def planned(**given: object) -> None:
        fields: dict[str, object] = {"backend": "docker", "workload": "register", **given}
        plan(RunOptions(system=reference, **fields))  # type: ignore[arg-type]

    with pytest.raises(UsageError, match=r"^--backend local: the system compose runs only on doc"):
        planned(backend="local")
    with pytest.raises(SystemUnavailableError, match=r"^--nodes: the nodes are the services of"):
        planned(nodes="db=3,web=1")
    with pytest.raises(UsageError, match=r"^--workload set: the clients of the system compose"):
        planned(workload="set")
    with pytest.raises(UsageError, match=r"^--nemesis clock: the system compose can't have that"):
        planned(nemeses=("clock",))


def test_only_a_compose_file_takes_a_client(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["test", "--client", "c.py:C", "--dry-run"]) == 3
    assert capsys.readouterr().err == (
        "kraftproof: --client c.py:C: the system reference has its own clients; only compose:FILE "
        "takes a client\n"
    )
