"""A fault is named by a file and its planner, such as the one aimed at etcd issue 20418."""

from pathlib import Path
from random import Random

import pytest

from kraftproof import cli
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.schedule import SECOND_NS, spaced
from tests.nemesis.injection import drawn, injected
from tests.nemesis.test_every_fault import state_of

ROOT = Path(__file__).resolve().parents[2]
STALE_READS = f"{ROOT}/examples/etcd/stale_reads.py:plan"
PLANNER = """
from kraftproof.nemesis.pause import Pause


def second(random, nodes):
    return Pause(target=2)


nothing = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "faults.py").write_text(PLANNER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dry_run(nemesis, capsys):
    store = ("--workload", "topics", "--time-limit", "20", "--dry-run")
    status = cli.run(["test", "--nemesis", nemesis, *store])
    return status, capsys.readouterr()


def test_a_planner_in_a_file_plans_beside_the_built_in_faults(folder, capsys):
    status, said = dry_run("kill,faults.py:second", capsys)
    assert status == 0
    assert "pause node 2" in said.out
    assert "kill -9 node" in said.out


@pytest.mark.parametrize(
    ("nemesis", "expected"),
    [
        ("faults.py:third", "faults.py:third: the file has no third, only second"),
        ("faults.py:nothing", "faults.py:nothing: 3 can't be called"),
        ("missing.py:plan", "missing.py:plan: there is no such file"),
        ("faults.py", "faults.py: a file, give its function too, as in "),
    ],
)
def test_a_mistake_in_a_file_of_faults_is_one_line(nemesis, expected, folder, capsys):
    status, said = dry_run(nemesis, capsys)
    assert status == 3
    assert expected in said.err.strip().splitlines()[-1]
    assert "Traceback" not in said.err


@pytest.mark.simulation
def test_a_stale_leader_cycle_ends_with_every_node_running_and_every_link_whole(tmp_path):
    """In the simulation the cycle has its effect on Kafka's controllers."""
    _, log = injected(tmp_path, drawn(STALE_READS, 1), seconds=1, observe=state_of)
    assert log.phases == ["intent", "applied", "bitten", "healed"]
    before, applied, healed = (log.observed[phase] for phase in ("intent", "applied", "healed"))
    delayed = [link for link, now in applied["links"].items() if now != before["links"].get(link)]
    assert len(delayed) == 4, "what all others send to the leader, only that way"
    assert len({link.target for link in delayed}) == 1
    assert applied["paused"] == set()
    assert healed == before


def test_a_fault_of_a_file_has_the_name_of_its_kind_in_the_schedule():
    """A finding says "after stale-leader of node 1", not the path of the file."""
    nodes = tuple(NodeInfo(node_id=n, name=f"node-{n}", roles=("server",)) for n in (1, 2, 3))
    found = spaced([STALE_READS], nodes, Random(1), 60 * SECOND_NS)
    assert {one.kind for one in found} == {"stale-leader"}
