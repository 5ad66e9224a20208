"""A registration that arrives again changes nothing; a visitor gets an id only when it is free."""

from collections import Counter
from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import broker_visitors
from kraftproof.cluster.simulated.background.broker_visitors import (
    HeartbeatRequest,
    RegistrationRequest,
    send_registrations,
)
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.wire.errors import ErrorCode

SECOND_NS = 1_000_000_000
NODES = nodes_of(controller=1, broker=2)


@pytest.mark.simulation
def test_brokers_keep_their_ids_while_they_live_and_get_them_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(broker_visitors, "UNREGISTER_SHARE", 0.0)
    options = ClusterOptions(nodes=NODES, seed=4, directory=tmp_path)
    cluster, answers, stale = SimulatedCluster(options), Counter(), Counter()
    scope = cluster.scope

    def on_replying(_process, event, message) -> None:
        if isinstance(event.message, RegistrationRequest):
            answers[event.message.broker_id, ErrorCode(message.error_code)] += 1
        elif isinstance(event.message, HeartbeatRequest) and message.error_code:
            stale[event.message.broker_id, ErrorCode(message.error_code)] += 1

    cluster.world.monitor.on_replying.append(on_replying)

    async def main() -> None:
        await cluster.start()
        task = scope.spawn(send_registrations(scope, cluster.world, Random(1), NODES))
        await scope.sleep(60 * SECOND_NS)
        assert (2, ErrorCode.DUPLICATE_BROKER_REGISTRATION) in answers
        assert not stale[2, ErrorCode.STALE_BROKER_EPOCH]
        for _ in range(6):
            await cluster.pause(2)
            await scope.sleep(12 * SECOND_NS)
            await cluster.resume(2)
            await cluster.stop_node(3)
            await cluster.start_node(3)
        task.cancel()
        await cluster.quiesce()

    cluster.run(main())
    assert not cluster.violations
    assert stale[2, ErrorCode.STALE_BROKER_EPOCH] > 0
    assert answers[2, ErrorCode.NONE] > 2
    assert {broker for broker, error in answers if not error} == {2, 3}
