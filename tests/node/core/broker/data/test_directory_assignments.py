"""The reports of directories, with answers and images in any order."""

from types import SimpleNamespace

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
IMAGE = SimpleNamespace(features={METADATA_VERSION: LARGEST_LEVEL})


def test_a_replica_that_was_moved_away_and_back_is_told_again():
    """Another request was under way from the first move to the second."""
    outbox, replicas = Outbox(), SimpleNamespace(misplaced={FIRST: DIRECTORY})
    reports = DirectoryAssignments(
        1, replicas, outbox, leader=lambda: 9, broker_epoch=lambda: 5, timeout_ns=1
    )

    def settle(at_ns=0):
        reports.settle(IMAGE, Instant(Monotonic(at_ns), WallClock(0)))
        return [
            (effect.correlation, part.partition_index)
            for effect in outbox.drain()
            if isinstance(effect, Send)
            for part in effect.message.directories[0].topics[0].partitions
        ]

    def answer(correlation, index):
        part = response.PartitionData(partition_index=index)
        topic = response.TopicData(topic_id=FIRST.topic_id, partitions=(part,))
        place = response.DirectoryData(id=DIRECTORY, topics=(topic,))
        message = response.AssignReplicasToDirsResponse(directories=(place,))
        outbox.resume(correlation, message, Instant(Monotonic(0), WallClock(0)))

    assert settle() == [(1, 0)]
    answer(1, 0)
    replicas.misplaced[OTHER] = DIRECTORY
    assert settle() == [(2, 1)]
    del replicas.misplaced[FIRST]
    assert settle() == []
    replicas.misplaced[FIRST] = DIRECTORY
    answer(2, 1)
    assert settle() == [(3, 0)]
