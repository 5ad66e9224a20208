"""The ports of the shell: disk, workers, peers, clocks, replies, and the process around it.

node/server implements the ports over files, threads and sockets, cluster/simulated over virtual
time. A port carries out one call; the order of calls is the shell's.
"""

from collections.abc import Callable, Generator
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    Exit,
    Flush,
    Forward,
    InstallSnapshot,
    PersistQuorumState,
    Publish,
    ReplyWithSlice,
    Send,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.events import Event, Received, SnapshotChecked
from kraftproof.node.shell.partition_port import PartitionDisk
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.batch import Batch

T = TypeVar("T")
ClientT = TypeVar("ClientT")
"""The place that an answer to a client goes to."""
ConnectionT = TypeVar("ConnectionT", bound="PeerConnection")
ClientT_contra = TypeVar("ClientT_contra", contravariant=True)
ConnectionT_contra = TypeVar("ConnectionT_contra", contravariant=True)
RequestT_co = TypeVar("RequestT_co", covariant=True)
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)

Failed = Callable[[OSError], None]


class SteppedNode(Protocol):
    """The node, as the shell sees it."""

    def start(self, now: Instant) -> list[Effect]:
        """Begin; called once, before any step."""
        ...

    def step(self, event: Event, now: Instant) -> list[Effect]:
        """Take one event."""
        ...

    def deadline(self) -> Monotonic | None:
        """Return when the node wants a Tick, at the latest."""
        ...


class Disk(Protocol):
    """The node's storage. Each call may raise an OSError, which ends the process."""

    @property
    def partitions(self) -> PartitionDisk:
        """The logs of partitions; the other calls are about the metadata log."""
        ...

    def append(self, effect: Append) -> None:
        """Write one batch; buffered only."""
        ...

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return an fsync that covers every append before this call."""
        ...

    def truncate(self, effect: Truncate) -> None:
        """Drop the end of the log."""
        ...

    def persist_quorum_state(self, effect: PersistQuorumState) -> None:
        """Replace the quorum-state file."""
        ...

    def write_snapshot(self, effect: WriteSnapshot) -> Generator[None, None, StoredSnapshot]:
        """Return the steps that write a snapshot."""
        ...

    def store_slice(self, effect: StoreSlice) -> None:
        """Write one slice of a copy; buffered only."""
        ...

    def check_snapshot(self, effect: CheckSnapshot) -> Generator[None, None, SnapshotChecked]:
        """Return the steps that check a copy."""
        ...

    def install_snapshot(self, effect: InstallSnapshot) -> None:
        """Put a checked copy in the log's place."""
        ...

    def clean(self, effect: CleanLog) -> None:
        """Drop the log and the snapshots below a snapshot."""
        ...

    def read_slice(self, effect: ReplyWithSlice) -> bytes:
        """Return a part of a snapshot."""
        ...


class Workers(Protocol):
    """Work that takes time. Exactly one callback follows each call, unless closed."""

    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Failed) -> None:
        """Make the call; `done` follows its return."""
        ...

    def encode(self, batch: Batch, done: Callable[[bytes], None], failed: Failed) -> None:
        """Encode a large batch; `done` gets its bytes."""
        ...

    def run(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        """Take all steps; `done` gets the value that the generator returns."""
        ...

    def background(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        """Take all steps, beside the work of `run`; `done` gets the returned value."""
        ...

    def barrier(self, done: Callable[[], None]) -> None:
        """Call `done` when the effect that was carried out last is on disk; maybe at once."""
        ...


class Timer(Protocol):
    """One delayed call."""

    def cancel(self) -> None:
        """Do without the call; harmless after the call was made."""
        ...


class Timers(Protocol):
    """A clock that never jumps, and delayed calls."""

    def now_ns(self) -> int:
        """Return the time by which delays are counted."""
        ...

    def after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        """Call `action` after a delay."""
        ...


class NodeClock(Protocol):
    """The clocks of the node, and the alarm for its deadline."""

    def now(self) -> Instant:
        """Read both clocks."""
        ...

    def set_deadline(self, deadline: Monotonic | None) -> None:
        """Call the shell's `tick` at this time; an earlier call's deadline counts no more."""
        ...


class PeerConnection(Protocol):
    """One connection to a peer."""

    @property
    def is_established(self) -> bool:
        """Return whether bytes of a request may have reached the peer."""
        ...

    def close(self) -> None:
        """End the connection, established or not."""
        ...


class AnswerReader(Protocol[RequestT_contra]):
    """Reads the bytes of an answer."""

    def __call__(self, request: RequestT_contra, /) -> Message | None:
        """Return the answer to this request, or None if the bytes are none."""
        ...


class ConnectionOwner(Protocol[ConnectionT_contra, RequestT_co]):
    """The side of a connection that asks."""

    def answered(
        self, connection: ConnectionT_contra, correlation_id: int, read: AnswerReader[RequestT_co]
    ) -> None:
        """Take the answer to the request that was sent with this id on this connection.

        A connection that was closed may still deliver answers that had arrived before.
        """
        ...

    def ended(self, connection: ConnectionT_contra) -> None:
        """Take note that the connection was refused or reset."""
        ...


class Transport(Protocol[ConnectionT]):
    """Connections to the controller listeners of voters, and to the listeners of brokers."""

    def connect(
        self,
        destination: NodeId,
        owner: ConnectionOwner[ConnectionT, Send | Forward],
        *,
        is_to_broker: bool,
    ) -> ConnectionT:
        """Begin a connection; requests may be sent at once.

        The connection to a broker without a known address ends soon, unestablished.
        """
        ...

    def send(self, connection: ConnectionT, correlation_id: int, request: Send | Forward) -> None:
        """Send a request as soon as the connection is established; a Forward in an Envelope."""
        ...


class Replies(Protocol[ClientT_contra]):
    """Answers to clients."""

    def mute(self, client: ClientT_contra, duration_ns: int) -> None:
        """Take no further request of the client's connection for a time."""

    def reply(self, client: ClientT_contra, event: Received, message: Message) -> None:
        """Send the answer to a request; a client that has gone misses the answer in silence."""

    def end(self, client: ClientT_contra, event: Received, *, closes_connection: bool) -> None:
        """End a request without an answer, and maybe the connection of the client."""


class Process(Protocol):
    """The process around the shell."""

    def wake(self) -> None:
        """Call the shell's `run`, now or soon."""

    def open_client_listeners(self) -> None:
        """Open the client listeners."""
        ...

    def publish(self, effect: Publish) -> None:
        """Take the committed image."""
        ...

    def exit(self, effect: Exit) -> None:
        """End the process; the shell executes no further effect."""
        ...

    def disk_failed(self, error: OSError) -> None:
        """End, as the disk's content is unknown; the shell does nothing more."""
        ...


class Observer:
    """Hears of the shell's work. Each hook may be left out."""

    def on_step(self, event: Event | None) -> None:
        """Hear of an event before the node takes it; None stands for the start."""

    def on_effect(self, effect: Effect) -> None:
        """Hear of an effect that was carried out."""

    def on_held(self) -> None:
        """Hear that no step is taken until the disk is done."""

    def on_released(self) -> None:
        """Hear that the disk is done."""

    def on_response(self, request: Send | Forward, message: Message) -> None:
        """Hear of an answer before the node does."""

    def on_stepped(self, now: Instant) -> None:
        """Hear of the end of a step that began at `now`: all its effects are carried out."""


class Ports(Struct, Generic[ClientT, ConnectionT], frozen=True, kw_only=True):
    """All ports of one shell."""

    disk: Disk
    workers: Workers
    transport: Transport[ConnectionT]
    timers: Timers
    clock: NodeClock
    replies: Replies[ClientT]
    process: Process
    observer: Observer
