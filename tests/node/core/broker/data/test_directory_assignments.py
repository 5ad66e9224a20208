"""The reports of directories, with answers and images in any order."""

from types import SimpleNamespace

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.broker.data.directory_assignments import DirectoryAssignments
from kraftproof.node.core.effects import Send
from kraftproof.node.core.metadata.version import LARGEST_LEVEL, METADATA_VERSION
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import assign_replicas_to_dirs_response as response
from kraftproof.node.wire.types import Uuid

FIRST, OTHER = LogId(Uuid(b"t" * 16), 0), LogId(Uuid(b"t" * 16), 1)
DIRECTORY = Uuid(b"d" * 16)
NOW = Instant(Monotonic(0), WallClock(0))


class World:
    """The reports of a broker, whose image has both partitions."""

    def __init__(self):
        self.misplaced = {FIRST: DIRECTORY}
        self.epochs = {0: 0, 1: 0}
        self.outbox = Outbox()
        self.reports = DirectoryAssignments(
            1, self, self.outbox, leader=lambda: 9, broker_epoch=lambda: 5, timeout_ns=1
        )

    @property
    def image(self):
        """Return the image that the replicas follow."""
        partitions = {
            index: SimpleNamespace(partition_epoch=epoch) for index, epoch in self.epochs.items()
        }
        return SimpleNamespace(
            features={METADATA_VERSION: LARGEST_LEVEL}, partitions={FIRST.topic_id: partitions}
        )

    def settle(self):
        """Return the correlation and the partition of each new report."""
        self.reports.settle(self.image, NOW)
        return [
            (effect.correlation, part.partition_index)
            for effect in self.outbox.drain()
            if isinstance(effect, Send)
            for part in effect.message.directories[0].topics[0].partitions
        ]

    def answer(self, correlation, index):
        """Answer that the assignment is committed."""
        part = response.PartitionData(partition_index=index)
        topic = response.TopicData(topic_id=FIRST.topic_id, partitions=(part,))
        place = response.DirectoryData(id=DIRECTORY, topics=(topic,))
        message = response.AssignReplicasToDirsResponse(directories=(place,))
        self.outbox.resume(correlation, message, NOW)


def test_a_replica_that_was_moved_away_and_back_is_told_again():
    """Another request was under way from the first move to the second."""
    world = World()
    assert world.settle() == [(1, 0)]
    world.answer(1, 0)
    world.misplaced[OTHER] = DIRECTORY
    assert world.settle() == [(2, 1)]
    del world.misplaced[FIRST]
    assert world.settle() == []
    world.misplaced[FIRST] = DIRECTORY
    world.answer(2, 1)
    assert world.settle() == [(3, 0)]


@pytest.mark.parametrize("answers_first", [True, False])
def test_a_replica_is_told_again_when_an_image_holds_the_assignment_and_a_later_move(answers_first):
    world = World()
    assert world.settle() == [(1, 0)]
    if answers_first:
        world.answer(1, 0)
        assert world.settle() == []
    world.epochs[0] += 2
    assert world.settle() == ([(2, 0)] if answers_first else [])
    if not answers_first:
        world.answer(1, 0)
        assert world.settle() == [(2, 0)]
    world.answer(2, 0)
    assert world.settle() == []
