"""An orderly stop and a rolling restart, on simulated and on real nodes."""

import re

import pytest

from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.nemesis.restarts.rolling import RollingRestart
from kraftproof.nemesis.restarts.stop import SECOND_NS, Stop
from tests.nemesis.injection import drawn, injected


@pytest.mark.simulation
def test_a_stopped_node_ends_by_itself_and_is_away_until_the_heal(tmp_path):
    cluster, log = injected(
        tmp_path, Stop(target=2), observe=lambda cluster: cluster.world.machines[2].process
    )
    assert log.phases == ["intent", "applied", "bitten", "healed"]
    assert log.observed["applied"] is None
    assert log.observed["healed"] is not None
    evidence = dict(log.rows)["bitten"]
    assert re.fullmatch(r"node 2: process \d+ ended \d\.\d\d s after its stop signal", evidence)
    assert not cluster.violations


@pytest.mark.simulation
def test_a_rolling_restart_waits_for_a_ready_cluster_before_the_next_node(tmp_path):
    fault = drawn("rolling", 3)
    assert isinstance(fault, RollingRestart)
    cluster, log = injected(tmp_path, fault)
    assert log.phases == ["intent", "applied", "bitten", "healed"]
    parts = dict(log.rows)["bitten"].split("; ")
    assert [int(part.split()[1]) for part in parts] == list(fault.order)
    assert all("ready after" in part for part in parts)
    assert {machine.restart_count for machine in cluster.world.machines.values()} == {2}


@pytest.mark.simulation
def test_a_rolling_restart_stops_at_a_cluster_that_is_not_ready(tmp_path, monkeypatch):
    ready = SimulatedCluster.lacks

    async def lacks(cluster):
        return "a leader" if cluster.world.machines[1].restart_count == 2 else await ready(cluster)

    monkeypatch.setattr(SimulatedCluster, "lacks", lacks)
    cluster, log = injected(tmp_path, RollingRestart(order=(1, 2, 3), ready_ns=SECOND_NS))
    assert log.phases == ["intent", "failed", "healed"]
    said = "node 1: 1 s after its restart the cluster is not ready: a leader"
    assert dict(log.rows)["failed"] == said
    assert cluster.world.machines[2].restart_count == 1


@pytest.mark.slow
@pytest.mark.long
def test_a_live_run_under_stops_and_rolling_restarts_is_valid(kraftproof_run):
    result = kraftproof_run(
        nemeses=("stop", "rolling"), time_limit_s=60, fault_every_s=15, min_bites=1
    )  # on a loaded machine a restart takes longer than the default allows for
    assert result.verdict == "valid", result.why
    assert all(bites for _, bites in result.figures.bitten)
