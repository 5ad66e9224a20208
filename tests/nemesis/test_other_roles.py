"""Faults of systems whose nodes have other roles than ours, or that have one node only."""

from random import Random

import pytest

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.catalogue import drawn, ours
from kraftproof.nemesis.fault import as_node

SEEDS = range(60)
SYSTEMS = {
    "three servers": (("server",),) * 3,
    "a primary and two backups": (("primary",), ("backup",), ("backup",)),
    "one server": (("server",),),
    "one controller and a broker": (("controller",), ("broker",)),
}


def nodes_of(system):
    return [
        NodeInfo(node_id=node_id, name=f"node-{node_id}", roles=roles)
        for node_id, roles in enumerate(SYSTEMS[system], start=1)
    ]


def resolved(kind, system):
    """Return the faults of a kind that the seeds draw, with the ids of their nodes."""
    nodes = nodes_of(system)
    return [drawn(kind, Random(seed), nodes).resolved({}, nodes) for seed in SEEDS]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_fault_finds_nodes_whatever_their_roles_are(system):
    known = {node.node_id for node in nodes_of(system)}
    for kind in ours():
        for fault in resolved(kind, system):
            assert {as_node(target) for target in fault.targets} <= known, (kind, fault)


@pytest.mark.parametrize("kind", ["lose-unsynced", "disk-error", "disk-full", "slow-disk"])
@pytest.mark.parametrize("system", ["three servers", "a primary and two backups", "one server"])
def test_a_fault_of_disks_reaches_every_node_of_a_system_without_controllers(kind, system):
    hit = {target for fault in resolved(kind, system) for target in fault.targets}
    assert hit == {node.node_id for node in nodes_of(system)}


def test_a_loss_of_power_takes_one_two_or_all_of_three_nodes_without_controllers():
    sizes = {len(fault.targets) for fault in resolved("lose-unsynced", "three servers")}
    assert sizes == {1, 2, 3}
