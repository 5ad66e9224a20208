"""A worker encodes a large batch before the disk takes it; later effects and steps wait."""

from pathlib import Path

import pytest

from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.effects import Append
from kraftproof.node.shell import effect_executor
from kraftproof.node.shell.effect_executor import LARGE_RECORDS
from kraftproof.node.wire.records.batch import Batch, with_bytes
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.records.metadata import NoOpRecord
from tests.cluster.simulated.chaos import run_chaos
from tests.node.shell.effects import EXIT, flush, send
from tests.node.shell.in_memory_ports import Rig

BATCH = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(NoOpRecord(),) * LARGE_RECORDS)
LARGE = Append(METADATA_LOG, BATCH)


def test_effects_and_steps_behind_a_large_batch_wait_until_it_is_encoded():
    rig = Rig()
    rig.start(send(1), LARGE, flush(1), send(2))
    rig.step(send(3))
    assert rig.notes == ["send", "held"]
    assert rig.events == []
    rig.workers.held.popleft()()
    assert rig.notes[2:] == ["released", "append", "start flush 1", "send", "send"]
    assert rig.events == ["Tick"]


def test_the_disk_gets_the_bytes_and_encodes_nothing():
    rig = Rig()
    rig.start(LARGE)
    rig.workers.held.popleft()()
    (appended,) = rig.disk.appended
    assert appended.received.data == encode_batch(BATCH)
    assert appended == BATCH


def test_a_large_batch_with_bytes_and_a_smaller_one_are_written_at_once():
    rig = Rig()
    smaller = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=BATCH.records[1:])
    rig.start(
        Append(METADATA_LOG, with_bytes(BATCH, encode_batch(BATCH))), Append(METADATA_LOG, smaller)
    )
    assert rig.notes == ["append", "append"]
    assert not rig.workers.held


def test_a_failed_write_of_a_large_batch_ends_the_node():
    rig = Rig()
    rig.start(LARGE, flush(1))
    rig.disk.fails.add("append")
    rig.workers.held.popleft()()
    assert str(rig.failure) == "[Errno 5] Input/output error"


def test_a_node_that_was_closed_writes_no_large_batch():
    rig = Rig()
    rig.start(LARGE, EXIT)
    rig.shell.close()
    rig.workers.held.popleft()()
    assert rig.notes == ["held"]


@pytest.mark.simulation
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_cluster_that_encodes_each_batch_apart_breaks_no_invariant(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(effect_executor, "LARGE_RECORDS", 1)
    cluster, _, chaos = run_chaos(seed, 5.0, Path(tmp_path))
    assert cluster.violations == []
    assert any(answer.endswith(" 0") for answer in chaos.answers)
