"""Nodes take over the log of other controllers: every kind of record, and an open transaction."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.inherited import inherited_log
from kraftproof.cluster.simulated.inherited.inherited_log import (
    draw_inherited_log,
)
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batches import decode_batches, encode_batches

SECOND_NS = 1_000_000_000


def test_the_logs_of_many_seeds_have_every_kind_of_record_and_can_be_applied():
    kinds = set()
    for seed in range(60):
        batches = inherited_log.inherited_log(Random(seed), (1, 2, 3))
        assert decode_batches(encode_batches(batches)) == batches
        image = EMPTY_IMAGE
        for before, batch in zip((None, *batches), batches, strict=False):
            assert batch.base_offset == (0 if before is None else before.next_offset)
            image = apply_batch(image, batch)
        assert set(image.shown.features) <= {"metadata.version"}
        kinds |= {type(record).__name__ for batch in batches for record in batch.records}
    names = [name for name in records.__all__ if name.endswith("Record")]
    assert {name for name in names if name != "MetadataRecord"} <= kinds


def test_a_share_of_the_runs_inherits_a_log():
    drawn = [bool(draw_inherited_log(Random(seed), (1,))) for seed in range(400)]
    assert 30 < sum(drawn) < 90


@pytest.mark.simulation
@pytest.mark.parametrize("is_open", [False, True])
def test_a_cluster_starts_from_an_inherited_log(tmp_path, monkeypatch, is_open):
    monkeypatch.setattr(inherited_log, "SHARE", 1.0)
    monkeypatch.setattr(inherited_log, "OPEN_SHARE", float(is_open))
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=2, directory=tmp_path)
    )
    end = cluster.world.committed_log.inherited_end

    async def main() -> None:
        await cluster.start()
        await cluster.scope.sleep(5 * SECOND_NS)
        await cluster.quiesce()

    cluster.run(main())
    assert cluster.violations == []
    image = cluster.world.machines[4].process.image
    assert image.others
    assert f"{end} inherited records" in cluster.world.conditions.describe()
    aborts = [
        batch
        for batch in cluster.world.machines[1].env.log.batches
        if batch.base_offset >= end
        and any(isinstance(record, records.AbortTransactionRecord) for record in batch.records)
    ]
    assert bool(aborts) == is_open
    assert "__inherited.lost" not in image.topic_ids
