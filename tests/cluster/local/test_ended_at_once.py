"""A node that ends before its cluster is ready: the run says so at once, not after `ready_s`."""

import time

import pytest

from kraftproof import cli

SYSTEM = """
from kraftproof.cluster.systems.system import Client, Deployment, System

class Mine(System):
    name = "mine"
    nodes = "1"
    ready_s = 300
    workloads = ("register",)

    def deployment(self, site):
        return Deployment(command=COMMAND)

    def client(self, cluster, workload, random):
        return Client()
"""
ENDS = {
    "by-itself": (
        "('sh', '-c', 'echo read config; echo no licence; exit 3')",
        "node 1 ended with status 3: read config / no licence",
    ),
    "by-a-signal": ("('sh', '-c', 'kill -9 $$')", "node 1 ended with status -9: nothing printed"),
}


def failed_start(tmp_path, capsys, system):
    """Start a system whose node 1 ends, long before `ready_s`; return the line of the failure."""
    path = tmp_path / "mine.py"
    path.write_text(system)
    begun = time.monotonic()
    status = cli.run(
        [
            *("test", "--workload", "register", "--nemesis", "none", "--time-limit", "2"),
            *("--system", f"{path}:Mine", "--store", str(tmp_path / "store")),
        ]
    )
    said = capsys.readouterr().out
    assert status == 2
    (line,) = [line for line in said.splitlines() if "the cluster failed" in line]
    assert time.monotonic() - begun < 150, "the wait for a node, a check or a set-up is 300 s"
    return line


@pytest.mark.parametrize(("command", "expected"), ENDS.values(), ids=ENDS)
def test_a_node_that_ends_at_once_is_not_waited_for(tmp_path, capsys, command, expected):
    line = failed_start(tmp_path, capsys, SYSTEM.replace("COMMAND", command))
    assert "the system mine does not become ready: " in line
    assert line.endswith(expected)


BLOCKED = """
from kraftproof.cluster.systems.system import Client, Deployment, System

class Mine(System):
    name = "mine"
    nodes = "2"
    ready_s = 300
    workloads = ("register",)

    def deployment(self, site):
        is_first = site.node.node_id == 1
        end = ("sh", "-c", "echo no licence; exit 3") if is_first else ("sleep", "300")
        setup = () if is_first else (("sleep", SET_UP),)
        return Deployment(command=end, setup=setup)

    async def lacks(self, cluster):
        await cluster.scope.sleep(300_000_000_000)

    def client(self, cluster, workload, random):
        return Client()
"""


@pytest.mark.parametrize("set_up_s", ["0", "300"], ids=["ready", "set-up"])
def test_an_end_is_seen_while_the_harness_waits_for_something_else(tmp_path, capsys, set_up_s):
    """The system's own check blocks, or another node is still being set up."""
    line = failed_start(tmp_path, capsys, BLOCKED.replace("SET_UP", f'"{set_up_s}"'))
    assert "the system mine does not become ready: node 1 ended with status 3: no licence" in line
