"""Whole simulated clusters with replicas: produced records under chaos, and one seed, one run."""

from pathlib import Path

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.invariants.partitions.acknowledged import AcknowledgedIsOnTheIsr
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from tests.cluster.simulated.chaos import Chaos, digest_of


def run(seed: int, directory: Path, seconds: float = 4.0) -> tuple[SimulatedCluster, str]:
    directory.mkdir()
    options = ClusterOptions(
        nodes=nodes_of(controller=3, broker=3), seed=seed, directory=directory, has_data=True
    )
    cluster = SimulatedCluster(options)
    chaos = Chaos(cluster, seed, seconds)
    try:
        cluster.run(chaos.main())
    except InvariantViolatedError:
        cluster.write_files()
    return cluster, digest_of(directory, chaos.answers)


def acknowledged(cluster: SimulatedCluster) -> int:
    """The number of acknowledged batches that the invariant has judged."""
    hooks = cluster.world.monitor.on_partition_changed
    (judge,) = [
        hook.__self__ for hook in hooks if isinstance(hook.__self__, AcknowledgedIsOnTheIsr)
    ]
    return sum(map(len, judge._acknowledged.values()))


@pytest.mark.simulation
@pytest.mark.requirement("497-15")
@pytest.mark.parametrize("seed", [0, 3, 7])
def test_produced_records_survive_chaos(seed: int, tmp_path: Path) -> None:
    cluster, _ = run(seed, tmp_path / "run")
    assert cluster.violations == []
    assert acknowledged(cluster) > 0
    copies = [machine.env.partitions for machine in cluster.world.machines.values()]
    assert sum(map(len, copies)) > 0


@pytest.mark.simulation
def test_one_seed_gives_one_run_with_replicas(tmp_path: Path) -> None:
    first, second = run(5, tmp_path / "a", 2.0), run(5, tmp_path / "b", 2.0)
    assert first[1] == second[1]
    assert first[0].events == second[0].events
