"""Draw the effects of a step, such as a node decides them."""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.node.core.base.log_id import METADATA_LOG, LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    EndRequest,
    Exit,
    Flush,
    Forward,
    InstallSnapshot,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    ReplyWithSlice,
    Send,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    TopicSnapshot,
)
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.messages.generated.metadata_response import MetadataResponse
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch, with_bytes
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.types import Uuid

PARTITION: Final = LogId(Uuid(b"\5" * 16), 1)
SNAPSHOT: Final = SnapshotId(Offset(9), Epoch(2))
LARGE: Final = (NoOpRecord(),) * 3_000
"""The records of the smallest batch that a worker encodes."""
LARGE_SHARE: Final = 0.05
EXIT_SHARE: Final = 0.01
SLICE: Final = FetchSnapshotResponse(topics=(TopicSnapshot(partitions=(PartitionSnapshot(),)),))


class Draw:
    """Draws effects; each has numbers of its own."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.requests: list[int] = []
        """Requests that have no answer yet."""
        self.is_quiet = False
        """Whether no further effect is decided."""
        self.number = 0

    def effects(self, *, may_end: bool) -> list[Effect]:
        """Return the effects of a step."""
        if self.is_quiet:
            return []
        if may_end and self.random.random() < EXIT_SHARE:
            return [Exit(status=0, reason="")]
        return [self._effect() for _ in range(self.random.choice((0, 1, 1, 2, 5)))]

    def _effect(self) -> Effect:
        self.number += 1
        if self.requests and self.random.random() < 0.3:
            return self._answer(self.requests.pop(self.random.randrange(len(self.requests))))
        return self.random.choice(_DRAWS)(self)

    def _answer(self, request: int) -> Effect:
        match self.random.randrange(4):
            case 0:
                return EndRequest(request=request, closes_connection=self.random.random() < 0.5)
            case 1:
                return ReplyWithSlice(
                    request=request,
                    message=SLICE,
                    snapshot=SNAPSHOT,
                    position=self.number,
                    max_bytes=9,
                )
            case _:
                return Reply(request=request, message=MetadataResponse(throttle_time_ms=0))

    def append(self) -> Effect:
        """Return an append, at times of a batch that takes long to encode."""
        records: tuple[NoOpRecord, ...] = (NoOpRecord(),)
        is_known = self.random.random() < 0.5
        if self.random.random() < LARGE_SHARE:
            records = LARGE[: self.random.choice((2_999, 3_000))]
        batch = Batch(base_offset=self.number, epoch=1, timestamp_ms=0, records=records)
        return Append(METADATA_LOG, with_bytes(batch, b"known") if is_known else batch)

    def flush(self) -> Effect:
        """Return a flush of the metadata log or of a partition."""
        log = METADATA_LOG if self.random.random() < 0.7 else PARTITION
        return Flush(log=log, generation=self.number, end_offset=Offset(self.number))

    def truncate(self) -> Effect:
        """Return a truncation of the metadata log or of a partition."""
        log = METADATA_LOG if self.random.random() < 0.7 else PARTITION
        return Truncate(log, Offset(self.number))

    def send(self) -> Effect:
        """Return a request to a peer."""
        message = self.random.choice((FetchRequest(), FetchSnapshotRequest(), MetadataRequest()))
        return Send(
            destination=NodeId(self.random.randrange(2)),
            correlation=self.number,
            message=message,
            version=12,
            timeout_ns=self.random.choice((20, 50, 300)),
            is_to_broker=self.random.random() < 0.2,
        )

    def forward(self) -> Effect:
        """Return a request on behalf of a client."""
        return Forward(
            destination=NodeId(self.random.randrange(2)),
            correlation=self.number,
            message=MetadataRequest(),
            version=12,
            principal=ANONYMOUS,
            client_host="host",
            timeout_ns=self.random.choice((50, 300)),
            connect_ns=self.random.choice((10, 30)),
        )


_DRAWS: Final[tuple[Callable[[Draw], Effect], ...]] = (
    Draw.append,
    Draw.append,
    Draw.flush,
    Draw.flush,
    Draw.truncate,
    Draw.send,
    Draw.send,
    Draw.forward,
    Draw.forward,
    lambda draw: PersistQuorumState(QuorumState(epoch=Epoch(draw.number))),
    lambda draw: WriteSnapshot(snapshot=SNAPSHOT, image=EMPTY_IMAGE, timestamp_ms=draw.number),
    lambda draw: StoreSlice(copy=draw.number, snapshot=SNAPSHOT, position=0, data=b""),
    lambda draw: CheckSnapshot(copy=draw.number, snapshot=SNAPSHOT),
    lambda draw: InstallSnapshot(copy=draw.number, snapshot=SNAPSHOT),
    lambda draw: CleanLog(SnapshotId(Offset(draw.number), Epoch(1))),
    lambda draw: Publish(offset=Offset(draw.number), image=EMPTY_IMAGE),
    lambda draw: OpenClientListeners(),
    lambda draw: CreateLog(log=PARTITION, topic="t"),
    lambda draw: ConfigureLog(log=PARTITION, segment_bytes=draw.number),
    lambda draw: RestartLog(log=PARTITION, start_offset=Offset(draw.number)),
    lambda draw: RaiseLogStart(log=PARTITION, start_offset=Offset(draw.number)),
    lambda draw: NoteEpoch(log=PARTITION, epoch=Epoch(1), start_offset=Offset(draw.number)),
    lambda draw: DeleteLog(log=PARTITION),
    lambda draw: WriteCheckpoints(high_watermarks=()),
    lambda draw: FindTimestamp(
        token=draw.number,
        log=PARTITION,
        timestamp_ms=1,
        start_offset=Offset(0),
        end_offset=Offset(1),
    ),
    lambda draw: ReadProducers(
        log=PARTITION, generation=draw.number, end_offset=Offset(draw.number)
    ),
)
