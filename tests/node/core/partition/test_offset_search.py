"""The search for the range of a leader's log after OFFSET_OUT_OF_RANGE."""

import pytest

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.effects import Send
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition
from kraftproof.node.core.metadata.version import LARGEST_LEVEL
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.offset_search import OffsetSearch
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.settings import topic_settings
from kraftproof.node.wire.messages import list_offsets_response
from kraftproof.node.wire.types import Uuid

NOW = Instant(0, 0)
LOG = LogId(Uuid(b"t" * 16), 0)


def replica(outbox, start, end):
    """A replica that follows broker 2, with one record a batch."""
    index = LogIndex(LOG, start_offset=start)
    for offset in range(start, end):
        index.append(offset, offset + 1, 1, 5000, 0)
    settings = topic_settings(EMPTY_IMAGE, "t", 1)
    states = ProducerStates()
    made = Replica(1, "t", index, states, settings, ReplicationPolicy(), outbox, UNASSIGNED)
    partition = Partition(
        topic_id=LOG.topic_id,
        index=0,
        replicas=(1, 2),
        isr=(2,),
        leader=2,
        leader_epoch=3,
        partition_epoch=0,
    )
    made.follow_image(partition, EMPTY_IMAGE, settings, NOW)
    return made


def answer(outbox, offset):
    """Answer the open ListOffsets."""
    (sent,) = [effect for effect in outbox.drain() if isinstance(effect, Send)]
    part = list_offsets_response.ListOffsetsPartitionResponse(partition_index=0, offset=offset)
    topic = list_offsets_response.ListOffsetsTopicResponse(name="t", partitions=(part,))
    message = list_offsets_response.ListOffsetsResponse(topics=(topic,))
    outbox.resume(sent.correlation, message, NOW)


@pytest.mark.parametrize(
    ("start", "end", "leaders", "expected"),
    [
        (0, 6, (4,), (0, 4)),
        (3, 6, (3,), (3, 3)),
        (3, 6, (2,), (2, 2)),
        (6, 6, (0,), (0, 0)),
        (3, 6, (9, 8), (8, 8)),
        (3, 6, (9, 5), (3, 6)),
    ],
)
def test_the_log_is_cut_or_begins_again_within_the_leaders_log(start, end, leaders, expected):
    """A leader of an unclean election ended below the follower's start."""
    outbox = Outbox()
    found = replica(outbox, start, end)
    follower = found.follower
    search = OffsetSearch(2, ReplicationPolicy(), outbox, lambda: LARGEST_LEVEL)
    search.begin(found, follower)
    assert follower.is_finding_offsets
    for offset in leaders:
        answer(outbox, offset)
    assert (found.index.start_offset, found.index.end_offset) == expected
    assert not follower.is_finding_offsets
