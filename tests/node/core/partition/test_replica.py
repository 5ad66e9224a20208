"""The flushes of a replica whose topic flushes each batch."""

from msgspec import structs

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.settings import topic_settings
from kraftproof.node.wire.types import Uuid

LOG = LogId(Uuid(b"t" * 16), 0)


def test_a_cut_log_flushes_its_rest_again():
    """The flush of before the cut proves nothing, and a follower fetches after its flush only."""
    outbox, index = Outbox(), LogIndex(LOG)
    for offset in range(3):
        index.append(offset, offset + 1, 1, 5000, 0)
    settings = structs.replace(topic_settings(EMPTY_IMAGE, "t", 1), flush_messages=1)
    replica = Replica(
        *(1, "t", index, ProducerStates(), settings, ReplicationPolicy(), outbox, UNASSIGNED)
    )
    partition = Partition(
        topic_id=LOG.topic_id,
        index=0,
        replicas=(1, 2),
        isr=(2,),
        leader=2,
        leader_epoch=3,
        partition_epoch=0,
    )
    replica.follow_image(partition, EMPTY_IMAGE, settings, Instant(0, 0))
    assert flushes(outbox) == [(0, 3)]
    replica.truncate(2)
    assert flushes(outbox) == [(1, 2)]


def flushes(outbox):
    """Return the generations and ends of the flushes that the replica asks for."""
    asked = [effect for effect in outbox.drain() if isinstance(effect, Flush)]
    return [(effect.generation, effect.end_offset) for effect in asked]
