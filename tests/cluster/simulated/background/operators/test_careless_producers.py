"""Producers raise their epochs, reach the last number, and send batches that are refused."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators import careless_producers
from kraftproof.cluster.simulated.background.operators.careless_producers import (
    NEAR_THE_END,
    SEQUENCES,
    after,
    wrong_batches,
)
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request
from kraftproof.node.wire.records.raw_batch import parse_batch

SECOND_NS = 1_000_000_000


def test_the_number_after_the_last_is_0():
    assert after((1, 2, NEAR_THE_END), 3) == (1, 2, SEQUENCES - 1)
    assert after((1, 2, SEQUENCES - 1), 1) == (1, 2, 0)


def test_wrong_batches_are_wrong_in_each_way():
    kinds = set()
    for seed in range(300):
        for data in wrong_batches(Random(seed), (7, 2, 9)):
            batch = parse_batch(data)
            kinds.add(batch.producer_epoch)
            assert (batch.producer_epoch, batch.base_sequence) not in {(2, 9), (3, 0)}
    assert kinds == {1, 2, 3}


@pytest.mark.simulation
def test_wrong_batches_are_refused_and_right_ones_appended(tmp_path, monkeypatch):
    monkeypatch.setattr(careless_producers, "SHARE", 1.0)
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1), seed=5, directory=tmp_path, has_data=True
    )
    cluster = SimulatedCluster(options)
    errors, epochs = set(), set()

    def on_answered(_process, event, message):
        data = event.message.topic_data[0].partition_data[0].records
        epochs.add(parse_batch(data).producer_epoch)
        errors.add(message.responses[0].partition_responses[0].error_code)

    cluster.world.monitor.on_data_answered[produce_request.ProduceRequest].append(on_answered)

    async def main():
        await cluster.start()
        await cluster.scope.sleep(60 * SECOND_NS)

    cluster.run(main())
    refused = {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.INVALID_PRODUCER_EPOCH}
    assert refused | {ErrorCode.NONE} <= errors
    assert {0, 1, 2} <= epochs
    assert cluster.violations == []
