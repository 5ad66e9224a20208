"""When a snapshot is written: once the log that it lets go of is on disk."""

import pytest

from kraftproof.node.core.effects import Flush, WriteSnapshot
from kraftproof.node.core.events import Flushed
from tests.support.node.snapshot_world import BROKER, DiskWorld, fill


class SlowDisks(DiskWorld):
    """The broker's fsyncs end when a test says so."""

    def __init__(self, *arguments, **options):
        self.begun = []
        super().__init__(*arguments, **options)

    def take_one(self, node_id, effect):
        if node_id == BROKER and isinstance(effect, Flush):
            self.begun.append(effect)
            self.effects.append((node_id, effect))
        else:
            super().take_one(node_id, effect)

    def end_fsyncs(self):
        for flush in self.begun:
            done = Flushed(log=flush.log, generation=flush.generation, end_offset=flush.end_offset)
            self.events.append((BROKER, done))
        self.begun = []


@pytest.fixture
def slow():
    world = SlowDisks(3, 1, records=10)
    world.run(8000)
    world.end_fsyncs()
    world.run(10)
    return world


def of_the_broker(world, kind):
    return [
        effect for node_id, effect in world.effects if node_id == BROKER and type(effect) is kind
    ]


def test_an_observer_flushes_for_its_snapshots_only(world):
    flushes, snapshots = of_the_broker(world, Flush), of_the_broker(world, WriteSnapshot)
    assert len(snapshots) > 2
    assert len(flushes) == len(snapshots)
    assert all(
        flush.end_offset >= one.snapshot.end_offset
        for flush, one in zip(flushes, snapshots, strict=True)
    )


def test_a_voter_flushes_what_it_appends(world):
    flushes = [n for n, effect in world.effects if n == 1 and type(effect) is Flush]
    snapshots = [n for n, effect in world.effects if n == 1 and type(effect) is WriteSnapshot]
    assert len(flushes) > 3 * len(snapshots)


def test_a_snapshot_waits_for_the_fsync_and_is_of_when_it_was_due(slow):
    fill(slow, "first", 12)
    slow.run(10)
    (flush,) = slow.begun
    written = of_the_broker(slow, WriteSnapshot)
    fill(slow, "more", 3)
    slow.run(10)
    assert of_the_broker(slow, WriteSnapshot) == written
    assert slow.begun == [flush]
    slow.end_fsyncs()
    slow.run(10)
    *_, snapshot = of_the_broker(slow, WriteSnapshot)
    assert snapshot not in written
    assert snapshot.snapshot.end_offset <= flush.end_offset
