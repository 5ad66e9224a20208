"""Define the effects that a node asks its shell to execute.

The complete contract with the shell:

1. The shell executes effects in the order of the list.
2. PersistQuorumState, and the Truncate of the metadata log, are barriers: no later effect or event
   is handled before they are on the disk. Other logs need no barrier: after a crash, a replica
   compares epochs with its leader again.
3. Append only buffers. Flush is asynchronous; after the fsync the shell returns Flushed with the
   same log and token. Logs do not wait for each other's flushes. A failed write or fsync is never
   retried: the process ends, or with several log directories the directory of a partition ends in
   a DirectoryFailed. Then no effect on its logs has a result, and no answer claims the effect.
4. Send and Forward end in exactly one Answered or Unanswered, within their time-out.
5. Reply names a Received; without the client's connection the answer is dropped silently.
   EndRequest ends a Received without an answer; later answers of the connection do not wait.
   After an answer with a throttle time, the shell takes no request of the connection for that
   time (KIP-219); the content of an Envelope has its answer throttled by the forwarding broker.
6. After Exit the shell executes no further effect.
7. WriteSnapshot and CheckSnapshot are asynchronous, one at a time in their order, and end in one
   SnapshotWritten or one SnapshotChecked; a failed write ends the process. StoreSlice only buffers.
8. InstallSnapshot is a barrier like Truncate. InstallSnapshot, CleanLog and the Truncate of the
   metadata log wait for a Flush of that log under way.
9. FindTimestamp, ReadProducers, WriteCheckpoints and the removal of a deleted log run beside the
   steps. The first two end in one TimestampFound or ProducersRead each.
10. Audited is written to the audit log, in the order of the decisions.
"""

from msgspec import Struct

from kraftproof.node.core.audit import Audited
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    ReplyWithBatches,
    ReplyWithVolumes,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.raw_batch import RawBatch


class Append(Struct, frozen=True):
    """Write a batch at the end of a log; partitions take RawBatch, byte for byte."""

    log: LogId
    batch: Batch | RawBatch


class Flush(Struct, frozen=True, kw_only=True):
    """Flush a log up to `end_offset`.

    The generation distinguishes the log before a truncation.
    """

    log: LogId
    generation: int
    end_offset: Offset


class Truncate(Struct, frozen=True):
    """Remove the records of a log at or above `end_offset`, the begin of a batch, durably."""

    log: LogId
    end_offset: Offset


class PersistQuorumState(Struct, frozen=True):
    """Replace the quorum-state file atomically and durably."""

    state: QuorumState


class WriteSnapshot(Struct, frozen=True, kw_only=True):
    """Write the image as a snapshot, durably.

    The file appears only as a complete file (KIP-630).
    """

    snapshot: SnapshotId
    image: MetadataImage
    timestamp_ms: int
    """The timestamp of the last contained batch."""


class StoreSlice(Struct, frozen=True, kw_only=True):
    """Write the next slice of a downloaded snapshot; position 0 begins the file."""

    copy: int
    snapshot: SnapshotId
    position: int
    data: bytes


class CheckSnapshot(Struct, frozen=True, kw_only=True):
    """Flush the downloaded file, and check that it is a complete snapshot."""

    copy: int
    snapshot: SnapshotId


class InstallSnapshot(Struct, frozen=True, kw_only=True):
    """Publish the checked file, and restart the log at its end; both durably."""

    copy: int
    snapshot: SnapshotId


class CleanLog(Struct, frozen=True):
    """Remove the log below the snapshot, and the older snapshots."""

    start: SnapshotId


class Send(Struct, frozen=True, kw_only=True):
    """Send a request to another node; the answer has the same `correlation`.

    The request goes to the controller listener of a voter, or to the inter-broker listener of a
    broker in the last published image. A broker without an endpoint is Unanswered.
    """

    destination: NodeId
    correlation: int
    message: Message
    version: int
    timeout_ns: int
    is_to_broker: bool = False


class Forward(Struct, frozen=True, kw_only=True):
    """Send a client's request in an Envelope (KIP-590), with its principal and address.

    The Answered carries the inner response, or an EnvelopeResponse for a refused envelope.
    """

    destination: NodeId
    correlation: int
    message: Message
    version: int
    principal: Principal
    client_host: str
    timeout_ns: int
    connect_ns: int
    """Time-out of the connection; without a connection the request has certainly not run."""
    client_id: str = ""
    """The name that the client gives itself."""
    client_correlation: int = 0
    """The client's number of the request; the inner answer has the same number."""


class Reply(Struct, frozen=True, kw_only=True):
    """Answer the Received with the token; an EnvelopeResponse refuses the envelope itself."""

    request: int
    message: Message


class EndRequest(Struct, frozen=True, kw_only=True):
    """End a request without an answer: Produce with acks=0.

    Kafka reports an error of such a request by the end of the connection.
    """

    request: int
    closes_connection: bool
    throttle_ms: int = 0
    """The time for which the connection takes no request, as for an answer with that time."""


class ReplyWithSlice(Struct, frozen=True, kw_only=True):
    """Answer a FetchSnapshot with the message and a slice of a stored snapshot."""

    request: int
    message: FetchSnapshotResponse
    snapshot: SnapshotId
    position: int
    max_bytes: int


class Publish(Struct, frozen=True, kw_only=True):
    """Publish the image of the committed records below `offset`."""

    offset: Offset
    image: MetadataImage


class OpenClientListeners(Struct, frozen=True):
    """Open the client listeners after the broker's recovery (631-57)."""


class Exit(Struct, frozen=True, kw_only=True):
    """End the process with the status; `reason` is one line about the cause."""

    status: int
    reason: str


Effect = (
    Append
    | Flush
    | Truncate
    | CreateLog
    | ConfigureLog
    | DeleteLog
    | RestartLog
    | RaiseLogStart
    | NoteEpoch
    | WriteCheckpoints
    | FindTimestamp
    | ReadProducers
    | PersistQuorumState
    | WriteSnapshot
    | StoreSlice
    | CheckSnapshot
    | InstallSnapshot
    | CleanLog
    | Send
    | Forward
    | Reply
    | EndRequest
    | ReplyWithSlice
    | ReplyWithBatches
    | ReplyWithVolumes
    | Publish
    | OpenClientListeners
    | Audited
    | Exit
)
