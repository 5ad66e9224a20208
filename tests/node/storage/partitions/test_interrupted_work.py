"""Losses of power amid an operation: the disk refuses every change after a number of changes."""

import contextlib
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.node.core.log_effects import NoteEpoch
from tests.node.storage.partitions.test_partition_crashes import Model, take
from tests.support.node.partition_disk import LOG, PartitionDisk
from tests.support.node.raw_batches import raw

BEFORE = st.sampled_from(
    [("append", 9), ("append", 3), ("flush", 0), ("checkpoint", 0), ("raise", 40), ("truncate", 60)]
)
KINDS = ("append", "flush", "truncate", "restart", "raise", "epoch", "checkpoint", "stop")


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    before=st.lists(BEFORE, min_size=2, max_size=8),
    kind=st.sampled_from(KINDS),
    changes=st.integers(0, 14),
    seed=st.integers(0, 1 << 16),
)
def test_an_interrupted_operation_leaves_the_log_before_or_after(before, kind, changes, seed):
    node, model = PartitionDisk(segment_bytes=250), Model()
    node.create()
    take(node, model, "append", 2)
    take(node, model, "flush", 0)
    for step in before:
        take(node, model, *step)
    old_start, durable = model.start, model.durable
    target = old_start + (model.end - old_start) // 2
    cuts = [b.base_offset for b in model.batches if b.base_offset >= old_start] or [model.end]
    cut = cuts[len(cuts) // 2]
    node.disk.disk_faults = DiskFaults(Random(seed))
    node.disk.disk_faults.crash_after(changes, lambda: None)
    with contextlib.suppress(OSError):
        interrupt(node, model, kind, target=target, cut=cut)
    node.disk.disk_faults = None
    (found,) = node.lose_power(Random(seed))
    stored = node.read_all(found.start_offset)
    starts = {old_start, target} if kind == "raise" else {old_start}
    if kind == "restart" and not stored:
        assert found.start_offset == found.end_offset
        return
    assert found.start_offset in starts
    wanted = [b for b in model.batches if b.next_offset > found.start_offset]
    assert stored == wanted[: len(stored)]
    assert found.end_offset == (stored[-1].next_offset if stored else found.start_offset)
    if kind == "restart":
        return
    promised = min(durable, cut) if kind == "truncate" else durable
    assert found.end_offset >= promised


def interrupt(node, model, kind, *, target, cut):
    match kind:
        case "append":
            for _ in range(6):
                batch = raw(model.end, b"value", epoch=model.epoch)
                model.batches.append(batch)
                model.end = batch.next_offset
                node.append(batch)
        case "flush":
            node.flush()
        case "truncate":
            node.truncate(cut)
        case "restart":
            node.restart(model.end + 10)
        case "raise":
            node.raise_start(target)
        case "epoch":
            node.logs.note_epoch(NoteEpoch(log=LOG, epoch=model.epoch + 1, start_offset=model.end))
        case "checkpoint":
            node.checkpoint(model.start)
        case "stop":
            node.logs.stop(7)
