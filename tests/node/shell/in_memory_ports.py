"""The shell's ports in memory: work that the test finishes, peers that the test answers."""

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, Offset
from kraftproof.node.core.effects import Effect, Exit, Flush, Publish
from kraftproof.node.core.events import Event, Received, SnapshotChecked
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.shell.ports import (
    ConnectionOwner,
    Disk,
    Failed,
    Observer,
    Ports,
    Process,
    Replies,
    SteppedNode,
    Transport,
    Workers,
)
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from tests.node.shell.in_memory_partitions import NotedPartitions
from tests.node.shell.manual_timers import ManualTimers

SNAPSHOT = SnapshotId(Offset(1), Epoch(1))


class ScriptedNode(SteppedNode):
    """A node that answers each event with the effects that the test has planned."""

    def __init__(self) -> None:
        self.planned: deque[list[Effect]] = deque()
        self.events: list[Event | None] = []
        self.wants: Monotonic | None = None

    def start(self, now: Instant) -> list[Effect]:
        self.events.append(None)
        return self.planned.popleft() if self.planned else []

    def step(self, event: Event, now: Instant) -> list[Effect]:
        self.events.append(event)
        return self.planned.popleft() if self.planned else []

    def deadline(self) -> Monotonic | None:
        return self.wants


class NotedDisk(Disk):
    """Notes the calls; each may be made to fail."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self.fails: set[str] = set()
        self.appended: list[Batch] = []
        self.noted_partitions = NotedPartitions(self._note)

    @property
    def partitions(self) -> NotedPartitions:
        return self.noted_partitions

    def _note(self, name: str) -> None:
        if name in self.fails:
            raise OSError(5, "Input/output error")
        self._notes.append(name)

    def append(self, effect: Any) -> None:
        self._note("append")
        self.appended.append(effect.batch)

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        self._note(f"start flush {effect.end_offset}")
        return lambda: self._note("fsync")

    def truncate(self, effect: Any) -> None:
        self._note("truncate")

    def persist_quorum_state(self, effect: Any) -> None:
        self._note("persist")

    def write_snapshot(self, effect: Any) -> Generator[None, None, StoredSnapshot]:
        self._note("begin snapshot")
        yield
        self._note("end snapshot")
        return StoredSnapshot(snapshot=SNAPSHOT, size=10)

    def store_slice(self, effect: Any) -> None:
        self._note("store slice")

    def check_snapshot(self, effect: Any) -> Generator[None, None, SnapshotChecked]:
        self._note("begin check")
        yield
        self._note("end check")
        return SnapshotChecked(copy=effect.copy, loaded=None)

    def install_snapshot(self, effect: Any) -> None:
        self._note("install")

    def clean(self, effect: Any) -> None:
        self._note("clean")

    def read_slice(self, effect: Any) -> bytes:
        return b"slice"


class HeldWorkers(Workers):
    """Keeps each piece of work until the test lets the oldest one end."""

    def __init__(self) -> None:
        self.held: deque[Callable[[], None]] = deque()
        self.barriers: deque[Callable[[], None]] = deque()
        self.has_slow_barriers = False

    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Failed) -> None:
        def work() -> None:
            try:
                fsync()
            except OSError as error:
                failed(error)
            else:
                done()

        self.held.append(work)

    def encode(self, batch: Batch, done: Callable[[bytes], None], failed: Failed) -> None:
        self.held.append(lambda: done(encode_batch(batch)))

    def run(self, steps: Any, done: Callable[[Any], None], failed: Failed) -> None:
        def work() -> None:
            try:
                next(steps)
            except StopIteration as stop:
                done(stop.value)
            except OSError as error:
                failed(error)
            else:
                self.held.appendleft(work)

        next(steps)
        self.held.append(work)

    def background(self, steps: Any, done: Callable[[Any], None], failed: Failed) -> None:
        self.run(steps, done, failed)

    def barrier(self, done: Callable[[], None]) -> None:
        if self.has_slow_barriers:
            self.barriers.append(done)
        else:
            done()


class PeerSocket:
    """A connection that the test establishes, answers and ends."""

    def __init__(self, owner: ConnectionOwner["PeerSocket", Any]) -> None:
        self.owner = owner
        self.is_established = False
        self.is_closed = False
        self.sent: list[int] = []

    def close(self) -> None:
        self.is_closed = True

    def answer(self, correlation_id: int, message: Message | None) -> None:
        self.owner.answered(self, correlation_id, lambda _: message)

    def end(self) -> None:
        self.owner.ended(self)


class PeerSockets(Transport[PeerSocket]):
    """All connections that were made."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes
        self.made: list[PeerSocket] = []
        self.targets: list[tuple[NodeId, bool]] = []

    def connect(
        self,
        destination: NodeId,
        owner: ConnectionOwner[PeerSocket, Any],
        *,
        is_to_broker: bool,
    ) -> PeerSocket:
        self.targets.append((destination, is_to_broker))
        self.made.append(PeerSocket(owner))
        return self.made[-1]

    def send(self, connection: PeerSocket, correlation_id: int, request: Any) -> None:
        assert not connection.is_closed
        self._notes.append("send")
        connection.sent.append(correlation_id)


class Rig(Process, Replies[str], Observer):
    """A shell over these ports."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.node = ScriptedNode()
        self.disk = NotedDisk(self.notes)
        self.workers = HeldWorkers()
        self.peers = PeerSockets(self.notes)
        self.timers = ManualTimers()
        self.failure: OSError | None = None
        self.exit_effect: Exit | None = None
        self.answers: list[tuple[str, Message]] = []
        self.runs_when_woken = True
        self.shell = NodeShell(
            self.node,
            Ports(
                disk=self.disk,
                workers=self.workers,
                transport=self.peers,
                timers=self.timers,
                clock=self.timers,
                replies=self,
                process=self,
                observer=self,
            ),
        )

    def start(self, *effects: Effect) -> None:
        self.node.planned.append(list(effects))
        self.shell.start()

    def step(self, *effects: Effect) -> None:
        """Let an event come to which the node answers with these effects."""
        self.node.planned.append(list(effects))
        self.shell.tick()

    def receive(self, client: str) -> None:
        self.shell.receive(
            client,
            message=ApiVersionsRequest(),
            version=0,
            on_controller_listener=True,
            principal=ANONYMOUS,
            client_host="127.0.0.1",
        )

    @property
    def events(self) -> list[str]:
        """The names of the events that the node took, without the start."""
        return [type(event).__name__ for event in self.node.events if event is not None]

    def mute(self, client: str, duration_ns: int) -> None:
        self.notes.append(f"mute {client} {duration_ns}")

    def wake(self) -> None:
        if self.runs_when_woken:
            self.shell.run()

    def open_client_listeners(self) -> None:
        self.notes.append("open listeners")

    def publish(self, effect: Publish) -> None:
        self.notes.append("publish")

    def exit(self, effect: Exit) -> None:
        self.exit_effect = effect

    def disk_failed(self, error: OSError) -> None:
        self.failure = error

    def reply(self, client: str, event: Received, message: Message) -> None:
        self.notes.append("reply")
        self.answers.append((client, message))

    def end(self, client: str, event: Received, *, closes_connection: bool) -> None:
        self.notes.append("close" if closes_connection else "end")

    def on_held(self) -> None:
        self.notes.append("held")

    def on_released(self) -> None:
        self.notes.append("released")
