"""A workload that judges the settings of brokers is the only one who alters them."""

from contextlib import ExitStack
from unittest import mock

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import background_load, random_requests
from kraftproof.cluster.simulated.background.operators import administrators
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.options import RunOptions
from kraftproof.run.planning import cluster_options

LOADS = ((random_requests, "send_random_requests"), (administrators, "administrate"))
"""The loads that alter settings of brokers."""


@pytest.mark.parametrize(("owns_settings", "started"), [(False, 1), (True, 0)])
def test_loads_leave_the_settings_to_a_workload_that_judges_them(owns_settings, started, tmp_path):
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1),
        seed=0,
        directory=tmp_path,
        owns_settings=owns_settings,
    )
    cluster = SimulatedCluster(options)
    with ExitStack() as patches:
        loads = [patches.enter_context(mock.patch.object(*load)) for load in LOADS]
        for module, _ in LOADS:
            patches.enter_context(mock.patch.object(module, "SHARE", 1.0))
        tasks = background_load.start(cluster.scope, cluster.world, options)
        for task in tasks:
            task.cancel()
        cluster.run(cluster.scope.sleep(1))
    assert [load.call_count for load in loads] == [started] * len(LOADS)


@pytest.mark.parametrize(("workload", "owns"), [("configs", True), ("topics", False)])
def test_the_workload_says_whether_it_judges_the_settings(workload, owns):
    options = RunOptions(backend="simulated", workload=workload)
    assert cluster_options(options, None).owns_settings is owns
