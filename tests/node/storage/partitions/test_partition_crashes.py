"""Losses of power at any moment: what was flushed is there, what is there was written.

A model keeps the batches that the log must hold and the batches that the log may hold.
"""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.node.partition_disk import LOG, PartitionDisk
from tests.support.node.raw_batches import raw

STEP = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 12)),
    st.tuples(st.just("append"), st.integers(1, 3)),
    st.tuples(st.just("flush"), st.just(0)),
    st.tuples(st.just("truncate"), st.integers(0, 100)),
    st.tuples(st.just("restart"), st.integers(0, 20)),
    st.tuples(st.just("raise"), st.integers(0, 100)),
    st.tuples(st.just("epoch"), st.just(0)),
    st.tuples(st.just("checkpoint"), st.just(0)),
    st.tuples(st.just("power"), st.integers(0, 1 << 16)),
    st.tuples(st.just("kill"), st.just(0)),
    st.tuples(st.just("stop"), st.just(0)),
)


class Model:
    """The batches in the page cache, and the offset below which they are durable."""

    def __init__(self):
        self.batches = []
        self.start = self.end = self.durable = 0
        self.epoch = 1
        self.is_flushed = False

    def check(self, found, stored, *, is_lost):
        """Compare the log with the model after a start, and go on with the log."""
        if found is None:
            assert is_lost
            assert not self.is_flushed
            self.__init__()
            return
        wanted = [batch for batch in self.batches if batch.next_offset > self.start]
        assert stored == wanted[: len(stored)]
        end = stored[-1].next_offset if stored else found.end_offset
        assert found.end_offset == end
        assert found.end_offset >= (self.durable if is_lost else self.end)
        assert found.start_offset == self.start
        epochs = dict.fromkeys(batch.epoch for batch in stored)
        assert set(epochs) <= {epoch for epoch, _ in found.epochs}
        self.batches = [batch for batch in self.batches if batch.next_offset <= found.end_offset]
        self.end = self.durable = found.end_offset
        self.is_flushed = True


@settings(max_examples=120, deadline=None, derandomize=True)
@given(steps=st.lists(STEP, min_size=5, max_size=40))
def test_a_log_holds_what_was_flushed_and_nothing_that_was_not_written(steps):
    node, model = PartitionDisk(segment_bytes=250), Model()
    node.create()
    for kind, number in steps:
        take(node, model, kind, number)
    take(node, model, "power", len(steps))


def take(node, model, kind, number):
    match kind:
        case "append":
            for each in range(number):
                batch = raw(model.end, *[b"value"] * (1 + each % 2), epoch=model.epoch)
                node.append(batch)
                model.batches.append(batch)
                model.end = batch.next_offset
        case "flush":
            node.flush()
            model.durable, model.is_flushed = model.end, True
        case "truncate":
            kept = len(model.batches) * number // 100
            later = [batch for batch in model.batches[kept:] if batch.base_offset >= model.start]
            if later:
                model.end = later[0].base_offset
                node.truncate(model.end)
                model.batches = [b for b in model.batches if b.next_offset <= model.end]
                model.durable = min(model.durable, model.end)
                model.epoch += 1
        case "restart":
            node.restart(model.end + number)
            model.batches = []
            model.start = model.end = model.durable = model.end + number
        case "raise":
            model.start += (model.end - model.start) * number // 100
            node.raise_start(model.start)
        case "epoch":
            model.epoch += 1
        case "checkpoint":
            node.checkpoint(model.start)
        case _:
            end(node, model, kind, number)


def end(node, model, kind, number):
    """End the node in a way, and compare the log of the next start."""
    found = node.lose_power(Random(number)) if kind == "power" else getattr(node, kind)()
    if not found:
        model.check(None, [], is_lost=kind == "power")
        if node.disk.exists("/data/orders-3"):
            raise AssertionError("an unknown directory is set aside")
        node.create()
        return
    log = next(each for each in found if each.log == LOG)
    model.check(log, node.read_all(log.start_offset), is_lost=kind == "power")
