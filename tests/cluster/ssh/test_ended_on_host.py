"""A node on a host that ends during the start: the run says so at once, with its exit status."""

import time

import pytest

from kraftproof import cli

pytestmark = pytest.mark.docker

SYSTEM = """
from kraftproof.cluster.systems.system import Client, Deployment, System

class Mine(System):
    name = "mine"
    nodes = "2"
    ready_s = 300
    workloads = ("register",)

    def deployment(self, site):
        end = ("sh", "-c", "echo read config; echo no licence; exit 3")
        return Deployment(command=end if site.node.node_id == 2 else ("sleep", "300"))

    async def lacks(self, cluster):
        await cluster.scope.sleep(300_000_000_000)

    def client(self, cluster, workload, random):
        return Client()
"""


def test_a_node_that_ends_at_once_is_not_waited_for(hosts, tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(SYSTEM)
    begun = time.monotonic()
    status = cli.run(
        [
            *("test", "--backend", "ssh", "--hosts", str(hosts.write_hosts())),
            *("--workload", "register", "--nemesis", "none", "--time-limit", "2"),
            *("--system", f"{path}:Mine", "--store", str(tmp_path / "store")),
        ]
    )
    said = capsys.readouterr().out
    assert status == 2, said
    (line,) = [line for line in said.splitlines() if "the cluster failed" in line]
    assert "does not become ready: node 2 ended with status 3: read config / no licence" in line
    assert time.monotonic() - begun < 150, "the check of the system takes 300 s"
    assert [hosts.leftovers(number) for number in (0, 1, 2)] == ["", "", ""]
