"""Define the events of a node; the shell creates events, and the core only reads them."""

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.security import PLAINTEXT_LISTENER, SecurityProtocol
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

PRODUCER_BATCHES = 5
"""The number of batches of a producer that are compared with a retried batch (KIP-98)."""
MOST_UNCOMMITTED = 2_000
"""Maximum number of known batches of a producer above the high watermark."""


class Tick(Struct, frozen=True):
    """The node's deadline has been reached."""


class Received(Struct, frozen=True, kw_only=True):
    """A request has arrived; `request` is the token for its Reply."""

    request: int
    message: Message
    version: int
    on_controller_listener: bool
    principal: Principal
    client_host: str
    forwarded_by: Principal | None = None
    """The broker that vouches for `principal`, if the request came in an Envelope."""
    listener: str = PLAINTEXT_LISTENER
    """The name of the listener that the request, or its Envelope, came to."""
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    forwarder_host: str = ""
    """The address of that broker."""
    client_id: str = ""
    """The name that the client gives itself, by which quotas tell clients apart (KIP-13)."""
    correlation_id: int = 0
    """The client's number of the request, which an Envelope carries on."""


class RefusedEnvelope(EnvelopeRequest, frozen=True, kw_only=True):
    """An Envelope whose content can't be read; the sender's own right is judged before (590-06)."""

    refused_with: ErrorCode
    """The error of the content."""


class Answered(Struct, frozen=True, kw_only=True):
    """A peer has answered the Send or Forward with the correlation."""

    correlation: int
    message: Message


class Unanswered(Struct, frozen=True, kw_only=True):
    """A Send or Forward has no answer: time-out, refused or lost connection.

    The request may have run.
    """

    correlation: int


class Flushed(Struct, frozen=True, kw_only=True):
    """The records below `end_offset` of this log generation are on the disk (fsync returned)."""

    log: LogId
    generation: int
    end_offset: Offset


class TimestampFound(Struct, frozen=True, kw_only=True):
    """A FindTimestamp is finished; without such a record, offset, timestamp and epoch are -1."""

    token: int
    offset: Offset
    timestamp_ms: int
    epoch: Epoch
    has_failed: bool = False
    """Whether a file no longer holds what was written (error code 56)."""


class BatchesRead(Struct, frozen=True, kw_only=True):
    """A ReplyWithBatches has read more bytes than were counted for the quota of its client."""

    received: Received
    excess_bytes: int


class ProducersRead(Struct, frozen=True, kw_only=True):
    """A ReadProducers is finished."""

    log: LogId
    generation: int
    end_offset: Offset
    batches: tuple[RawBatch, ...]
    """The last PRODUCER_BATCHES batches of each producer in the order of the log, without data."""


class DirectoryFailed(Struct, frozen=True, kw_only=True):
    """A log directory failed: its logs take no further effect, until the next start (KIP-112).

    The event precedes every other event that the node has not handled yet.
    """

    directory: Uuid
    reason: str
    """One line with the failed file."""


class SnapshotWritten(Struct, frozen=True):
    """A WriteSnapshot is finished: the file is complete and on the disk.

    A snapshot older than the begin of the log has no file.
    """

    stored: StoredSnapshot


class SnapshotChecked(Struct, frozen=True, kw_only=True):
    """A CheckSnapshot is finished; `loaded` is None if the file is no complete snapshot."""

    copy: int
    loaded: LoadedSnapshot | None
    unsupported: str | None = None
    """The reason if a complete snapshot, from a newer node, cannot be loaded by this node."""


class Stop(Struct, frozen=True):
    """SIGTERM was received: shut down in a controlled way, then Exit."""


DiskEvent = (
    Flushed | TimestampFound | BatchesRead | ProducersRead | DirectoryFailed | SnapshotWritten
)
"""The ends of work on the disk."""
Event = Tick | Received | Answered | Unanswered | DiskEvent | SnapshotChecked | Stop
