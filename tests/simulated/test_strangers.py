"""Nodes of another cluster ask, and are refused."""

from random import Random

import pytest

from cluster.protocol import ClusterOptions
from cluster.simulated import strangers
from cluster.simulated.simulated_cluster import SimulatedCluster
from node.wire.messages import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    vote_request,
)
from node.wire.schema import Message

SECOND_NS = 1_000_000_000


class Listener:
    """Notes what controllers are asked by strangers, and what they answer."""

    def __init__(self):
        self.asked: dict[type[Message], list[int]] = {}

    def replying(self, _process, event, message):
        if getattr(event.message, "cluster_id", None) == strangers.ANOTHER_CLUSTER:
            self.asked.setdefault(type(event.message), []).append(message.error_code)


@pytest.mark.simulation
def test_strangers_ask_everything_and_change_nothing(tmp_path):
    cluster = SimulatedCluster(ClusterOptions(controllers=3, brokers=1, seed=3, directory=tmp_path))
    listener, scope = Listener(), cluster.scope
    cluster.world.jury.on_replying.append(listener.replying)

    async def main():
        await cluster.start()
        epoch = cluster.world.machines[1].process.status.epoch
        visits = strangers.visit(scope, cluster.world.network, Random(1), [1, 2, 3])
        task = scope.spawn(visits)
        await scope.sleep(60 * SECOND_NS)
        task.cancel()
        return cluster.world.machines[1].process.status.epoch - epoch

    assert cluster.run(main()) == 0
    assert listener.asked.keys() == {
        vote_request.VoteRequest,
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_request.FetchRequest,
    }
    assert all(codes and set(codes) == {104} for codes in listener.asked.values())
