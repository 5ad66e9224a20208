"""A member of the quorum without shell, disk, controller and broker."""

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import named
from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    Exit,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    Reply,
    ReplyWithSlice,
    Send,
    StoreSlice,
    Truncate,
)
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.wire.messages import Message, fetch_response
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.field import metadata_batches
from kraftproof.node.wire.records.metadata import NoOpRecord

START_NS: Final = 1_767_225_600_000_000_000
Done = tuple[object, ...]
"""An effect as plain values."""


def batch_of(base: int, end: int, epoch: int) -> Batch:
    """Return a batch of records without content."""
    records = tuple(NoOpRecord() for _ in range(end - base))
    return Batch(base_offset=base, epoch=epoch, timestamp_ms=0, records=records)


class BareMember:
    """The quorum's part of a node, and its clock; the caller is everybody else."""

    def __init__(
        self,
        config: NodeConfig,
        durable: QuorumState,
        log: Log,
        random: Random,
        snapshots: Sequence[StoredSnapshot],
    ) -> None:
        self.now_ns = random.randrange(1_000_000_000)
        self.outbox = Outbox()
        self.raft = Raft(config, durable, log, self.outbox, random, self.now, snapshots)
        self.sent: list[Send] = []
        """The requests of the last step."""
        self.appended: list[Batch] = []
        """The appended batches of the last step."""

    @property
    def now(self) -> Instant:
        """Return the reading of both clocks."""
        return Instant(Monotonic(self.now_ns), WallClock(START_NS + self.now_ns))

    def settle(self) -> None:
        """End a step, as the node does."""
        self.raft.tick(self.now)
        self.raft.settle(self.now)

    def done(self, *in_exit: object) -> list[Done]:
        """Return the effects of the step as plain values; a reason to exit has the given names."""
        effects = self.outbox.drain()
        self.sent = [effect for effect in effects if isinstance(effect, Send)]
        batches = [effect.batch for effect in effects if isinstance(effect, Append)]
        self.appended = [batch for batch in batches if isinstance(batch, Batch)]
        for effect in effects:
            if isinstance(effect, Exit):
                named("the reason to exit", effect.reason, *in_exit)
        return [_plain(effect) for effect in effects if not isinstance(effect, Send)]


def _plain(effect: Effect) -> Done:
    match effect:
        case PersistQuorumState(state=state):
            return ("quorum-state", state.epoch, state.voted_for, state.leader)
        case Append(batch=Batch() as batch):
            return ("append", batch.base_offset, batch.next_offset, batch.epoch)
        case Flush():
            return ("flush", effect.generation, effect.end_offset)
        case Truncate():
            return ("truncate", effect.end_offset)
        case Reply():
            return ("reply", effect.request, _without_content(effect.message))
        case Exit():
            return ("exit", effect.status)
        case _:
            return _of_snapshot(effect)


def _of_snapshot(effect: Effect) -> Done:
    match effect:
        case StoreSlice(snapshot=of):
            return ("slice", effect.copy, of.end_offset, of.epoch, effect.position, effect.data)
        case CheckSnapshot(snapshot=of):
            return ("check", effect.copy, of.end_offset, of.epoch)
        case InstallSnapshot(snapshot=of):
            return ("install", effect.copy, of.end_offset, of.epoch)
        case CleanLog(start=of):
            return ("clean", of.end_offset, of.epoch)
        case ReplyWithSlice(snapshot=of, position=position, max_bytes=most):
            place = (of.end_offset, of.epoch, position, most)
            return ("reply with slice", effect.request, effect.message, *place)
        case _:
            return (type(effect).__name__,)


def _without_content(message: Message) -> Message:
    """Return an answer to a Fetch with the offsets and epochs of its batches only."""
    if not isinstance(message, fetch_response.FetchResponse):
        return message
    (topic,) = message.responses
    (partition,) = topic.partitions
    batches = tuple(
        batch_of(batch.base_offset, batch.next_offset, batch.epoch)
        for batch in metadata_batches(partition.records)
    )
    topic = replace(topic, partitions=(replace(partition, records=batches),))
    return replace(message, responses=(topic,))
