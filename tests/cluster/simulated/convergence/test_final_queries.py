"""At the end of a run every node of the core is asked what it says by itself."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators import unclean_topic
from kraftproof.cluster.simulated.convergence.final_phase import FinalPhase, converge
from kraftproof.cluster.simulated.invariants.invariant import Invariant
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.wire.messages import (
    describe_cluster_request,
    describe_configs_request,
    describe_quorum_request,
    metadata_request,
)

OF_CONTROLLERS = (
    describe_cluster_request.DescribeClusterRequest,
    describe_quorum_request.DescribeQuorumRequest,
)
OF_BROKERS = (
    describe_cluster_request.DescribeClusterRequest,
    describe_configs_request.DescribeConfigsRequest,
    metadata_request.MetadataRequest,
)


class Asked(Invariant):
    statement = "It reports no violation."
    requests = (*OF_CONTROLLERS, *OF_BROKERS)

    def __init__(self):
        super().__init__()
        self.answers = {}

    def on_replied(self, process, event, message):
        if type(event.message) in self.requests:
            self.answers.setdefault(process.node_id, {})[type(event.message)] = message


@pytest.mark.simulation
@pytest.mark.parametrize("seed", [5, 6])
def test_every_node_of_the_core_says_what_it_can(tmp_path, seed):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=3, broker=2), seed=seed, directory=tmp_path)
    )
    asked = Asked()

    async def main():
        await cluster.start()
        cluster.world.monitor.join(asked)
        await converge(cluster.scope, cluster.world, FinalPhase(core=(1, 2, 4), dead=(3, 5)))

    cluster.run(main())
    assert sorted(asked.answers) == [1, 2, 4]
    assert set(asked.answers[1]) == set(asked.answers[2]) == set(OF_CONTROLLERS)
    assert set(asked.answers[4]) == set(OF_BROKERS)
    listed = asked.answers[4][describe_cluster_request.DescribeClusterRequest].brokers
    assert [(broker.broker_id, broker.is_fenced) for broker in listed] == [(4, False), (5, True)]
    shown = asked.answers[4][metadata_request.MetadataRequest].topics
    names = [topic.name for topic in shown if topic.name not in unclean_topic.NAMES]
    assert names == ["__liveness-probe"]
    assert cluster.violations == []
