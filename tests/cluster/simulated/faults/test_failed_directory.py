"""A broker with a disk for each log directory, of which one fails and is replaced."""

import pytest

from kraftproof.cluster.protocol import Capability, ClusterOptions, nodes_of
from kraftproof.cluster.simulated.convergence import final_checks
from kraftproof.cluster.simulated.convergence.final_phase import FinalPhase, converge
from kraftproof.cluster.simulated.faults import failed_directory
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.base.types import NodeId

SECOND_NS = 1_000_000_000
BROKERS = (2, 3)


def cluster_of(directory, needs=frozenset({Capability.FAILED_DIRECTORY}), brokers=2):
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=brokers),
        seed=7,
        directory=directory,
        needs=needs,
        has_data=True,
    )
    return SimulatedCluster(options)


async def until(cluster, holds, seconds=30):
    for _ in range(seconds * 10):
        if holds():
            return
        await cluster.scope.sleep(SECOND_NS // 10)
    raise AssertionError(f"not within {seconds} s")


def image_of(cluster):
    return cluster.world.machines[1].process.image


def members(cluster, node_id):
    """The ISRs with a broker, and the directory of each replica."""
    return {
        partition.key: dict(zip(partition.replicas, partition.directories, strict=True))[node_id]
        for partition in image_of(cluster).in_isr(NodeId(node_id))
    }


def fail_one(cluster, machine):
    """Fail the directory with the most logs of a broker."""
    path = failed_directory.fail_directory(machine)
    assert path in machine.directories.paths
    return machine.directories.id_of(path)


@pytest.mark.simulation
def test_the_replicas_of_a_failed_directory_leave_their_isrs_and_come_back(tmp_path):
    cluster = cluster_of(tmp_path)
    machine = cluster.world.machines[2]

    async def main():
        await cluster.start()
        await until(cluster, lambda: len(set(members(cluster, 2).values())) == 2)
        await until(cluster, lambda: len(members(cluster, 3)) == len(members(cluster, 2)))
        before = members(cluster, 2)
        gone = fail_one(cluster, machine)
        assert failed_directory.fail_directory(machine) is None, "one directory at a time"
        left = {key for key, place in before.items() if place != gone}
        assert 0 < len(left) < len(before)
        await until(cluster, lambda: members(cluster, 2).keys() == left)
        assert all(
            each.leader == 3
            for each in image_of(cluster).partitions_of(next(iter(before))[0])
            if each.key not in left
        )
        assert "goes on without" in failed_directory.failure_observed(machine)
        process = machine.process
        failed_directory.end_failure(cluster.world, machine)
        assert machine.process is None
        assert process is not None
        machine.start()
        await until(cluster, lambda: members(cluster, 2).keys() == before.keys())
        assert gone not in members(cluster, 2).values(), "a replaced disk has a new id"
        final_checks.heal_all(cluster.world)
        await converge(cluster.scope, cluster.world, FinalPhase(core=(1, 2, 3)))

    cluster.run(main())


@pytest.mark.simulation
def test_the_last_replica_of_a_partition_gets_its_old_disk_back(tmp_path):
    cluster = cluster_of(tmp_path, brokers=1)
    machine = cluster.world.machines[2]

    async def main():
        await cluster.start()
        await until(cluster, lambda: len(set(members(cluster, 2).values())) == 2)
        gone = fail_one(cluster, machine)
        await until(cluster, lambda: gone not in image_of(cluster).brokers[NodeId(2)].log_dirs)
        failed_directory.end_failure(cluster.world, machine)
        machine.start()
        await until(cluster, lambda: gone in image_of(cluster).brokers[NodeId(2)].log_dirs)
        await converge(cluster.scope, cluster.world, FinalPhase(core=(1, 2)))

    cluster.run(main())


def test_a_run_without_the_fault_has_one_directory(tmp_path):
    machine = cluster_of(tmp_path, needs=frozenset()).world.machines[2]
    assert machine.directories.paths == ("/data",)
    assert failed_directory.fail_directory(machine) is None
    assert failed_directory.failure_observed(machine) is None
