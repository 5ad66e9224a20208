"""A run with a single node: faults of links are refused before the run, other faults are not."""

from pathlib import Path

import pytest

from kraftproof.cluster.protocol import OF_LINKS
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import ours
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan

KV = f"{Path(__file__).parents[3] / 'examples' / 'kv' / 'system.py'}:KV"
KINDS = {
    *("partition", "isolate", "loss", "stall", "reset"),
    *("latency", "bandwidth", "slow-close", "limit-data"),
}


def planned(tmp_path, nemesis, nodes, **fields):
    options = RunOptions(
        system=KV,
        nodes=nodes,
        workload="register",
        nemeses=(nemesis,),
        engine="inline",
        store=tmp_path,
        **fields,
    )
    return plan(options)


@pytest.mark.parametrize("nemesis", sorted(KINDS))
def test_a_fault_of_links_is_refused_for_a_single_node(tmp_path, nemesis):
    with pytest.raises(UsageError) as refused:
        planned(tmp_path, nemesis, "1")
    assert str(refused.value) == (
        f"--nemesis {nemesis}: the run has a single node, and a single node has no link to "
        "another node; give more nodes with --nodes, or another fault"
    )
    assert planned(tmp_path, nemesis, "2")


@pytest.mark.parametrize("nemesis", ["kill", "pause", "restart", "rolling", "kill-all"])
def test_a_fault_of_the_node_itself_is_planned_for_a_single_node(tmp_path, nemesis):
    assert planned(tmp_path, nemesis, "1")


def test_the_faults_of_links_are_all_in_the_table():
    has_links = {name for name, fault in ours().items() if hasattr(fault, "links")}
    assert has_links == KINDS
    assert {fault.requires for name, fault in ours().items() if name in KINDS} == OF_LINKS


def test_a_given_schedule_is_refused_as_a_drawn_one(tmp_path):
    schedule = planned(tmp_path, "isolate", "2")
    options = RunOptions(system=KV, nodes="1", workload="register", store=tmp_path)
    with pytest.raises(UsageError, match="has a single node, and a single node has no link"):
        plan(options, schedule)
