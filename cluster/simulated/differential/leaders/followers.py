"""Compare the log of a follower with a plain list: appends, truncations, deletions, retention."""

from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.follower_model import FollowerModel
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelBatch, Producer
from kraftproof.cluster.simulated.differential.leaders.produces import placed
from kraftproof.cluster.simulated.differential.one_partition import LOG, NAME
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.types import (
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
    WallClock,
    milliseconds,
)
from kraftproof.node.core.broker.data.retention import retained_start
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.follower import truncation_offset
from kraftproof.node.core.partition.log_index import FIRST_SPAN_BYTES, LogIndex
from kraftproof.node.core.partition.producers import Duplicate, ProducerStates
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.settings import TopicSettings
from kraftproof.node.wire.records.raw_batch import parse_batch
from kraftproof.node.wire.types import ZERO_UUID

STEPS: Final = 60
NEVER: Final = 1 << 62
COMPARED: Final = 5
"""Number of last batches of a producer that a retry is compared with."""
_PRODUCERS: Final = (5, 6)
_NOW: Final = Instant(Monotonic(0), WallClock(milliseconds(START_MS)))


def compare_followers(random: Random) -> None:
    """Change the log of a follower in drawn steps, and compare index and producers with the model.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    replica, model, epoch = _replica(random), FollowerModel(), random.choice((0, 3))
    now_ms = START_MS
    for _ in range(STEPS):
        now_ms += random.randrange(100)
        now = Instant(Monotonic(0), WallClock(milliseconds(now_ms)))
        kind = random.random()
        ends = [batch.end for batch in model.held()]
        if kind < 0.6:
            epoch += random.random() < 0.15
            batch = _draw_batch(random, model, epoch)
            model.append(batch, now_ms)
            replica.append_fetched(parse_batch(batch.data), now)
            _compare_kept(replica.producers, model, batch.producer[0])
        elif kind < 0.75:
            told = random.choice((*ends[-3:], model.end + 1, 0))
            start = random.choice((0, model.start, *ends[:1], *ends[-1:]))
            model.follow(told, start)
            replica.follow_leaders_offsets(Offset(told), Offset(start))
        elif kind < 0.9:
            above = [end for end in ends if model.high_watermark <= end > model.start]
            end = random.choice(above) if above else model.end
            model.truncate(end)
            replica.truncate(Offset(end))
        elif kind < 0.95:
            before_ms = now_ms - random.choice((50, 200, 1000))
            model.expire(before_ms)
            replica.producers.expire(before_ms)
        elif kind < 0.97:
            offset = model.end + random.choice((0, 5))
            model.restart(offset)
            replica.restart(Offset(offset))
        _compare(random, replica, model)


def _draw_batch(random: Random, model: FollowerModel, epoch: int) -> ModelBatch:
    """Return the next batch of a producer, larger than a span of the index."""
    producer_id = random.choice(_PRODUCERS)
    known = [batch for batch in model.batches if batch.producer[0] == producer_id]
    sequence = known[-1].last_sequence + 1 if known else 0
    count, time_ms = random.choice((1, 3)), START_MS + random.randrange(1000)
    producer: Producer = (producer_id, 0, sequence)
    values = [b"v" * FIRST_SPAN_BYTES] * count
    data = placed(client_batch(values, time_ms, producer), model.end, epoch)
    return ModelBatch(
        base=model.end, count=count, epoch=epoch, data=data, producer=producer, time_ms=time_ms
    )


def _compare(random: Random, replica: Replica, model: FollowerModel) -> None:
    index = replica.index
    found = (index.start_offset, index.end_offset, index.high_watermark)
    same("start, end and high watermark", found, (model.start, model.end, model.high_watermark))
    entries = [(entry.epoch, entry.start_offset) for entry in index.epochs.entries]
    same("the epochs of the log", entries, model.epochs)
    held = model.held()
    if held:
        batch = random.choice(held)
        offset = max(batch.base, model.start)
        within = Offset(random.randint(offset, batch.end - 1))
        same(f"the batch at offset {within}", index.boundary_at(within), batch.base)
        left = sum(len(each.data) for each in held[held.index(batch) + 1 :])
        bytes_left = index.bytes_between(Offset(batch.end), index.end_offset)
        same(f"the bytes from offset {batch.end} on", bytes_left, left)
    _compare_producers(random, replica.producers, model)
    # a copy draws what a leader says, so that recorded seeds keep their runs
    _compare_common_part(copy(random), index, model)
    now_ms = START_MS + 1000
    settings = replica.settings
    kept = retained_start(replica, now_ms)
    expected = model.retained(
        age_ms=settings.retention_ms, size=settings.retention_bytes, now_ms=now_ms
    )
    same(f"the start by retention above offset {model.high_watermark}", kept, expected)


def _compare_common_part(random: Random, index: LogIndex, model: FollowerModel) -> None:
    """Compare where a log is cut for the largest epoch of a leader and its end (KIP-101)."""
    if not model.epochs:
        return
    first, last = model.epochs[0][0], model.epochs[-1][0]
    epoch = random.randint(max(first - 2, 0), last + 2)
    told = random.choice((random.randint(0, model.end + 3), model.end, model.start))
    found = truncation_offset(index, Epoch(epoch), Offset(told))
    same(f"the common part with epoch {epoch} up to {told}", found, model.common(epoch, told))


def _compare_kept(found: ProducerStates, model: FollowerModel, producer_id: int) -> None:
    """Compare the number of kept batches: the committed ones that a retry is compared with."""
    uncommitted = sum(one.end > model.high_watermark for one in model.producers[producer_id])
    kept = len(found._producers[producer_id].batches)  # noqa: SLF001 - only memory
    what = f"{kept} batches of a producer are kept, of which {uncommitted} are uncommitted"
    check(what, kept <= COMPARED + uncommitted)


def _compare_producers(random: Random, found: ProducerStates, model: FollowerModel) -> None:
    known = model.producers
    expected = [
        (each, known[each][-1].base, known[each][-1].last_sequence) for each in sorted(known)
    ]
    told = [(each, one.base_offset, one.last_sequence) for each, one in found.last_batches()]
    same("the last batches of the producers", told, expected)
    for producer_id in sorted(known):
        batch = random.choice(known[producer_id][-COMPARED:])
        answer = found.check(parse_batch(batch.data))
        check(f"a retry of offset {batch.base} is known", isinstance(answer, Duplicate))


def _replica(random: Random) -> Replica:
    """Return the empty replica of a follower, with drawn limits of retention."""
    settings = TopicSettings(
        min_isr=1,
        max_message_bytes=1 << 20,
        segment_bytes=1 << 20,
        retention_ms=random.choice((-1, 0, 300, 700)),
        retention_bytes=random.choice((-1, 0, 20_000, 50_000)),
        is_compacted=False,
        is_deleted=True,
        uses_append_time=False,
        timestamp_before_max_ms=NEVER,
        timestamp_after_max_ms=NEVER,
        flush_messages=NEVER,
    )
    index, producers = LogIndex(LOG), ProducerStates()
    replica = Replica(
        NodeId(1), NAME, index, producers, settings, ReplicationPolicy(), Outbox(), ZERO_UUID
    )
    partition = Partition(
        topic_id=LOG.topic_id,
        index=LOG.partition,
        replicas=(NodeId(1), NodeId(2)),
        isr=(NodeId(1), NodeId(2)),
        leader=NodeId(2),
        leader_epoch=Epoch(99),
        partition_epoch=0,
    )
    replica.follow_image(partition, EMPTY_IMAGE, settings, _NOW)
    return replica
