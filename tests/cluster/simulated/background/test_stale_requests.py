"""Nodes of another cluster ask, and late ones of an epoch that is over, and are refused."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import stale_requests
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from kraftproof.node.wire.schema import Message

SECOND_NS = 1_000_000_000


class Listener:
    """Collects the answers of controllers to stale and foreign requests."""

    def __init__(self):
        self.asked: dict[type[Message], list[int]] = {}
        self.late: dict[type[Message], list[int]] = {}

    def on_replying(self, _process, event, message):
        named = getattr(event.message, "cluster_id", "")
        if named == stale_requests.ANOTHER_CLUSTER:
            self.asked.setdefault(type(event.message), []).append(message.error_code)
        elif named is None:
            topic, *_ = getattr(message, "responses", None) or message.topics
            self.late.setdefault(type(event.message), []).append(topic.partitions[0].error_code)


@pytest.mark.simulation
def test_stale_requests_change_nothing(tmp_path):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=3, directory=tmp_path)
    )
    listener, scope = Listener(), cluster.scope
    cluster.world.monitor.on_replying.append(listener.on_replying)

    async def main():
        await cluster.start()
        epoch = cluster.world.machines[1].process.status.epoch
        controllers = {node_id: cluster.world.machines[node_id] for node_id in (1, 2, 3)}
        visits = stale_requests.send_stale_requests(
            scope, cluster.world.network, Random(1), controllers
        )
        task = scope.spawn(visits)
        await scope.sleep(120 * SECOND_NS)
        task.cancel()
        return cluster.world.machines[1].process.status.epoch - epoch

    assert cluster.run(main()) == 0
    everything = {
        vote_request.VoteRequest,
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
    }
    assert listener.asked.keys() == listener.late.keys() == everything
    inconsistent, fenced = ErrorCode.INCONSISTENT_CLUSTER_ID, ErrorCode.FENCED_LEADER_EPOCH
    assert all(set(codes) == {inconsistent} for codes in listener.asked.values())
    assert all(set(codes) == {fenced} for codes in listener.late.values())
