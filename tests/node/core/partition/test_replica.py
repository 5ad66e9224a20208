"""The flushes of a replica whose topic flushes each batch, and the memory of a leader."""

import gc

from immutables import Map
from msgspec import structs

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.leader import Leader
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
    replica.follow_image(placed(leader=2), EMPTY_IMAGE, settings, Instant(0, 0))
    assert flushes(outbox) == [(0, 3)]
    replica.truncate(2)
    assert flushes(outbox) == [(1, 2)]


def test_a_leader_keeps_no_image_alive():
    """A broker with a thousand partitions would keep a thousand old images."""
    settings = topic_settings(EMPTY_IMAGE, "t", 1)
    replica = Replica(
        *(1, "t", LogIndex(LOG), ProducerStates(), settings),
        *(ReplicationPolicy(), Outbox(), UNASSIGNED),
    )
    image = structs.replace(EMPTY_IMAGE, brokers=Map())
    replica.follow_image(placed(leader=1), image, settings, Instant(0, 0))
    assert replica.leader is not None
    kept = [one for one in gc.get_objects() if isinstance(one, Leader)]
    assert replica.leader in kept, "the collector knows all leaders"
    assert not [one for one in gc.get_referrers(image) if isinstance(one, Leader)]


def placed(leader):
    """Return the partition with replicas 1 and 2."""
    return Partition(
        topic_id=LOG.topic_id,
        index=0,
        replicas=(1, 2),
        isr=(leader,),
        leader=leader,
        leader_epoch=3,
        partition_epoch=0,
    )


def flushes(outbox):
    """Return the generations and ends of the flushes that the replica asks for."""
    asked = [effect for effect in outbox.drain() if isinstance(effect, Flush)]
    return [(effect.generation, effect.end_offset) for effect in asked]
