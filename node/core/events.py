"""What can happen to a node. The shell makes these; the core only reads them."""

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal


class Tick(Struct, frozen=True):
    """The deadline that the node asked for has come."""


class Received(Struct, frozen=True, kw_only=True):
    """A request has arrived; `request` is the token that its Reply names."""

    request: int
    message: Message
    version: int
    on_controller_listener: bool
    principal: Principal
    client_host: str
    forwarded_by: Principal | None = None
    """Set when the request came in an Envelope: the broker that vouches for `principal`."""


class Answered(Struct, frozen=True, kw_only=True):
    """A peer has answered the Send or Forward with this correlation."""

    correlation: int
    message: Message


class Unanswered(Struct, frozen=True, kw_only=True):
    """A Send or Forward was lost: time-out, refused or broken connection; it may have run."""

    correlation: int


class Flushed(Struct, frozen=True, kw_only=True):
    """Everything below `end_offset` of this log generation is on disk (fsync returned)."""

    generation: int
    end_offset: Offset


class SnapshotWritten(Struct, frozen=True):
    """A WriteSnapshot is done: the file is complete and on disk."""

    stored: StoredSnapshot


class SnapshotChecked(Struct, frozen=True, kw_only=True):
    """What a CheckSnapshot has found; `loaded` is None if it is no whole snapshot."""

    copy: int
    loaded: LoadedSnapshot | None
    unsupported: str | None = None
    """Why this node can't load a snapshot that is whole: it was written by a newer node."""


class Stop(Struct, frozen=True):
    """SIGTERM: resign, shut down in a controlled way, then Exit."""


Event = Tick | Received | Answered | Unanswered | Flushed | SnapshotWritten | SnapshotChecked | Stop
