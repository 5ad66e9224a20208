"""Draw the answers of a leader and of other voters, right and wrong ones, and write them."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.quorum.bare_member import batch_of
from kraftproof.cluster.simulated.differential.quorum.fetching_model import (
    LARGEST_END,
    NOBODY,
    OTHER_CLUSTER,
    FetchingModel,
    Held,
    Told,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_values import Download, Slice
from kraftproof.node.wire.messages import Message, fetch_response, fetch_snapshot_response
from kraftproof.node.wire.types import Uuid

TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))
TOPIC: Final = "__cluster_metadata"
STRANGER: Final = 99
NOT_LEADER: Final = 6
INVALID: Final = 42
NO_SLICE: Final = Slice(
    error=INVALID, leader=NOBODY, epoch=-1, snapshot=(-1, -1), size=0, position=0, data=b""
)
"""The content of an answer that names no snapshot."""


def draw_told(random: Random, model: FetchingModel, target: int) -> Told:
    """Draw the answer of a voter to a Fetch."""
    told = Told(leader=model.leader, epoch=model.epoch, watermark=draw_offset(random, model))
    if target != model.leader or random.random() < 0.1:
        told.error = random.choice((NOT_LEADER, NOT_LEADER, 74, 76, 0))
        told.epoch = model.epoch + random.choice((-1, 0, 0, 0, 1, 1, 2))
        told.leader = draw_leader(random, model)
        if random.random() < 0.1:
            told.whole_error = random.choice((OTHER_CLUSTER, INVALID))
            told.leader = random.choice((NOBODY, model.leader, target))
        return told
    kind = random.random()
    if kind < 0.15:
        epoch = random.randint(max(model.last_epoch - 2, 0), model.epoch)
        told.diverging = (epoch, draw_offset(random, model))
    elif kind < 0.3 or (model.download is not None and kind < 0.6):
        ends = (model.end, model.end + 5, model.end + 9, model.watermark, model.watermark - 1)
        told.snapshot = (
            random.choice((*ends, 0, LARGEST_END, LARGEST_END - 1) if kind < 0.2 else ends),
            random.choice((model.last_epoch, model.epoch, model.epoch + (kind < 0.2), 0)),
        )
    elif kind < 0.85:
        told.batches = _draw_batches(random, model)
        told.watermark = random.choice(
            (model.watermark, model.end, *(batch.end for batch in told.batches), model.end + 50)
        )
    return told


def draw_leader(random: Random, model: FetchingModel) -> int:
    """Draw who leads according to another node; never this node itself."""
    others = [voter for voter in model.voters if voter != model.own]
    return random.choice((NOBODY, model.leader, STRANGER, *others, *others))


def draw_offset(random: Random, model: FetchingModel) -> int:
    """Draw the end of a batch of the log, from the high watermark on or close to it."""
    ends = [batch.end for batch in model.batches if batch.end >= model.watermark]
    return random.choice((*ends, model.end, model.watermark, max(model.watermark - 1, 0)))


def _draw_batches(random: Random, model: FetchingModel) -> list[Held]:
    base, epoch = model.end, max(model.last_epoch, 1)
    found = []
    for _ in range(random.randint(0, 3)):
        if random.random() < 0.4:
            epoch = random.randint(epoch, max(epoch, model.epoch))
        end = base + random.randint(1, 4)
        found.append(Held(base, end, epoch))
        base = end
    if found and random.random() < 0.12:
        wrong = found[-1]
        found[-1] = random.choice(
            (
                Held(wrong.base + 1, wrong.end + 1, wrong.epoch),
                Held(max(wrong.base - 1, 0), wrong.end, wrong.epoch),
                Held(wrong.base, wrong.end, model.epoch + 1),
                Held(wrong.base, wrong.end, model.last_epoch - 1),
            )
        )
    return found


def draw_slice(random: Random, model: FetchingModel, of: Download) -> Slice:
    """Draw the answer of a leader to a FetchSnapshot."""
    size = of.size or random.randint(1, 40)
    data = random.randbytes(min(random.randint(1, 16), size - of.position))
    part = Slice(
        leader=model.leader,
        epoch=model.epoch,
        snapshot=of.snapshot,
        size=size,
        position=of.position,
        data=data,
    )
    if random.random() < 0.85:
        return part
    match random.randrange(8):
        case 0:
            part.error = random.choice((98, 99, NOT_LEADER))
        case 1:
            part.snapshot = (of.snapshot[0] + random.randint(-1, 1), of.snapshot[1] + 1)
        case 2:
            part.position += random.choice((-1, 1))
        case 3:
            part.size += random.choice((-1, 1))
        case 4:
            part.data = b""
        case 5:
            part.data = bytes(size - of.position + 1)
        case 6:
            part.epoch, part.leader = model.epoch + 1, draw_leader(random, model)
        case _:
            part.epoch, part.leader = model.epoch, NOBODY
    return part


def fetch_answer(told: Told) -> Message:
    """Return the answer to a Fetch as a message."""
    partition = fetch_response.PartitionData(
        partition_index=0,
        error_code=told.error,
        high_watermark=told.watermark,
        diverging_epoch=fetch_response.EpochEndOffset(
            epoch=told.diverging[0], end_offset=told.diverging[1]
        ),
        current_leader=fetch_response.LeaderIdAndEpoch(
            leader_id=told.leader, leader_epoch=told.epoch
        ),
        snapshot_id=fetch_response.SnapshotId(end_offset=told.snapshot[0], epoch=told.snapshot[1]),
        records=tuple(batch_of(*batch) for batch in told.batches),
    )
    topic = fetch_response.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=(partition,))
    return fetch_response.FetchResponse(error_code=told.whole_error, responses=(topic,))


def slice_answer(part: Slice) -> Message:
    """Return the answer to a FetchSnapshot as a message."""
    partition = fetch_snapshot_response.PartitionSnapshot(
        index=0,
        error_code=part.error,
        snapshot_id=fetch_snapshot_response.SnapshotId(
            end_offset=part.snapshot[0], epoch=part.snapshot[1]
        ),
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(
            leader_id=part.leader, leader_epoch=part.epoch
        ),
        size=part.size,
        position=part.position,
        unaligned_records=part.data,
    )
    topic = fetch_snapshot_response.TopicSnapshot(name=TOPIC, partitions=(partition,))
    return fetch_snapshot_response.FetchSnapshotResponse(topics=(topic,))


def empty_answer(*, is_slice: bool) -> Message:
    """Return an answer that says nothing about the log."""
    if is_slice:
        return fetch_snapshot_response.FetchSnapshotResponse()
    return fetch_response.FetchResponse()
