"""What a node asks of its shell.

The contract with the shell, which is the whole of it:
1. Effects are carried out in the order of the list.
2. PersistQuorumState and Truncate are barriers: nothing after them, effect or event, happens
   before they are on disk.
3. Append only buffers. Flush is asynchronous; when its fsync returned the shell feeds back
   Flushed with the same token. A failed write or fsync ends the process and is never retried.
4. Send and Forward end in exactly one Answered or Unanswered, within their time-out.
5. Reply names a Received; a request whose client has gone is dropped in silence.
6. After Exit nothing else is carried out.
7. WriteSnapshot and CheckSnapshot are asynchronous, one at a time in their order, and end in one
   SnapshotWritten or one SnapshotChecked; a failed write ends the process. StoreSlice only buffers.
8. InstallSnapshot is a barrier, as Truncate is. While a Flush is under way it waits for it, and
   so do Truncate and CleanLog.
"""

from msgspec import Struct

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.batch import Batch
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftproof.node.wire.principal import Principal


class Append(Struct, frozen=True):
    """Write one batch at the log's end."""

    batch: Batch


class Flush(Struct, frozen=True, kw_only=True):
    """Make the log durable up to `end_offset`; the generation tells logs apart that were cut."""

    generation: int
    end_offset: Offset


class Truncate(Struct, frozen=True):
    """Drop every record at or above `end_offset`, durably."""

    end_offset: Offset


class PersistQuorumState(Struct, frozen=True):
    """Replace the quorum-state file atomically, durably."""

    state: QuorumState


class WriteSnapshot(Struct, frozen=True, kw_only=True):
    """Write this image as a snapshot, durably, and let it appear at once and whole (KIP-630)."""

    snapshot: SnapshotId
    image: MetadataImage
    timestamp_ms: int
    """Of the last batch in it."""


class StoreSlice(Struct, frozen=True, kw_only=True):
    """Write the next slice of a copy of the leader's snapshot; position 0 begins the copy."""

    copy: int
    snapshot: SnapshotId
    position: int
    data: bytes


class CheckSnapshot(Struct, frozen=True, kw_only=True):
    """All slices are there: make them durable, and see if they are a whole snapshot."""

    copy: int
    snapshot: SnapshotId


class InstallSnapshot(Struct, frozen=True, kw_only=True):
    """Let the checked copy appear, and begin the log anew at its end; durably both."""

    copy: int
    snapshot: SnapshotId


class CleanLog(Struct, frozen=True):
    """Drop the log below this snapshot, and every snapshot that is older."""

    start: SnapshotId


class Send(Struct, frozen=True, kw_only=True):
    """Ask a voter's controller listener; the answer comes back under `correlation`."""

    destination: NodeId
    correlation: int
    message: Message
    version: int
    timeout_ns: int


class Forward(Struct, frozen=True, kw_only=True):
    """Send a client's request on in an Envelope (KIP-590), with its principal and address.

    Its Answered carries the inner response, or an EnvelopeResponse when the envelope was refused.
    """

    destination: NodeId
    correlation: int
    message: Message
    version: int
    principal: Principal
    client_host: str
    timeout_ns: int
    connect_ns: int
    """How long a connection may take; without one the request has certainly not run."""


class Reply(Struct, frozen=True, kw_only=True):
    """Answer the Received with this token; an EnvelopeResponse refuses the envelope itself."""

    request: int
    message: Message


class ReplyWithSlice(Struct, frozen=True, kw_only=True):
    """Answer a FetchSnapshot with this message and, in it, a slice of a stored snapshot."""

    request: int
    message: FetchSnapshotResponse
    snapshot: SnapshotId
    position: int
    max_bytes: int


class Publish(Struct, frozen=True, kw_only=True):
    """The image of everything committed below `offset`."""

    offset: Offset
    image: MetadataImage


class OpenClientListeners(Struct, frozen=True):
    """The broker has recovered: open the client listeners (631-57)."""


class Exit(Struct, frozen=True, kw_only=True):
    """End the process with this status; `reason` is the one line that says why."""

    status: int
    reason: str


Effect = (
    Append
    | Flush
    | Truncate
    | PersistQuorumState
    | WriteSnapshot
    | StoreSlice
    | CheckSnapshot
    | InstallSnapshot
    | CleanLog
    | Send
    | Forward
    | Reply
    | ReplyWithSlice
    | Publish
    | OpenClientListeners
    | Exit
)
