"""Ports of a shell that record each call, and that finish work when the test says so.

The rig knows the effects that the node has decided and the shell has not carried out. Each call is
compared with the next effect, and with the contract of node/core/effects.py.
"""

from collections import deque
from collections.abc import Callable, Generator
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.shell.flushes import Flushes
from kraftproof.cluster.simulated.differential.shell.lanes import Lanes
from kraftproof.cluster.simulated.differential.shell.ports import Connection, Pending, Port, Timer
from kraftproof.cluster.simulated.differential.work import result_of
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    EndRequest,
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
from kraftproof.node.core.events import ProducersRead, SnapshotChecked, TimestampFound
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    RestartLog,
)
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.types import Uuid

CALLS: Final[dict[type, str]] = {
    Append: "append",
    Truncate: "truncate",
    PersistQuorumState: "persist_quorum_state",
    StoreSlice: "store_slice",
    InstallSnapshot: "install_snapshot",
    CleanLog: "clean",
    ReplyWithSlice: "read_slice",
    Publish: "publish",
    OpenClientListeners: "open_client_listeners",
    Send: "send",
    Forward: "send",
    Reply: "reply",
    EndRequest: "end",
    ConfigureLog: "configure",
    RestartLog: "restart",
    RaiseLogStart: "raise_start",
    NoteEpoch: "note_epoch",
}
"""The call of a port that carries out an effect before the effect counts as carried out."""
GUARDED: Final = frozenset({*CALLS.values(), "connect", "encode", "barrier"})
"""Calls that wait for a barrier before them, and that no longer come after the end."""
DIRECTORY: Final = Uuid(b"\3" * 16)


class Rig:
    """The ports of one shell, and what the shell owes."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now_ns = 0
        self.planned: deque[Effect] = deque()
        """Effects that the node has decided and the shell has not carried out, in order."""
        self.calls: list[tuple[str, object]] = []
        """Calls of ports since the last effect."""
        self.pending: list[Pending] = []
        self.timers: list[Timer] = []
        self.lanes = Lanes()
        self.is_barrier = False
        self.is_held = False
        self.is_over = False
        self.ends: list[object] = []
        """The calls that ended the process."""
        self.fails_at: str | None = None
        """The next call with this name fails."""
        self.wakes: Callable[[], None] = _nothing
        self.responses: list[tuple[object, object]] = []
        self.flushes = Flushes()
        self.last_snapshot = 0
        """The number of the last snapshot that was begun."""
        self.deadline: Monotonic | None = None
        self.stepped = 0
        self.on_close: Callable[[Connection], None] = _never_mind
        self.files = Port(self, partitions=Port(self, is_partitions=True))

    # Ports of the disk

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Take a call of a port, and compare the call with the contract."""
        if name in {"directory_of", "is_vital"}:
            return DIRECTORY if name == "directory_of" else True
        if name in GUARDED:
            check(f"no {name} after the end", not self.is_over)
            check(f"no {name} before a barrier is passed", not self.is_barrier)
        subject = arguments[0] if arguments else None
        if CALLS.get(type(subject)) == name:
            self._is_next(name, subject)
        self.calls.append((name, subject))
        if self.fails_at == name:
            self.fails_at = None
            raise OSError(5, "Input/output error")
        handler = getattr(self, f"_{name}", None)
        return None if handler is None else handler(*arguments, **options)

    def _is_next(self, name: str, effect: object) -> None:
        check(f"{name} of an effect that was decided", self.planned)
        following = self.planned[0]
        if isinstance(effect, Append) and isinstance(following, Append):
            same("the next append", effect.batch, following.batch)
            return
        check(f"{name} comes in order: {type(effect).__name__}", following is effect)
        if type(effect) in {InstallSnapshot, CleanLog} or _cuts_metadata(effect):
            busy = [one for one in self.pending if one.kind == "fsync" and one.log is METADATA_LOG]
            same(f"fsyncs under way at {name}", len(busy), 0)

    def _start_flush(self, effect: Flush) -> Callable[[], None]:
        running = [one for one in self.pending if one.kind == "fsync" and one.log == effect.log]
        same("fsyncs of a log at a time", len(running), 0)
        self.flushes.begin(effect, is_new=bool(self.planned) and self.planned[0] is effect)
        return lambda: None

    def _write_snapshot(self, effect: WriteSnapshot) -> Generator[None, None, StoredSnapshot]:
        yield
        return StoredSnapshot(snapshot=effect.snapshot, size=effect.timestamp_ms)

    def _check_snapshot(self, effect: Any) -> Generator[None, None, SnapshotChecked]:  # noqa: ANN401
        yield
        return SnapshotChecked(copy=effect.copy, loaded=None)

    def _read_slice(self, effect: ReplyWithSlice) -> bytes:
        return b"slice-%d" % effect.position

    def _find_timestamp(self, effect: FindTimestamp) -> Generator[None, None, TimestampFound]:
        yield
        return TimestampFound(
            token=effect.token, offset=Offset(effect.token), timestamp_ms=7, epoch=_EPOCH
        )

    def _read_producers(self, effect: ReadProducers) -> Generator[None, None, ProducersRead]:
        yield
        return ProducersRead(
            log=effect.log,
            generation=effect.generation,
            end_offset=effect.end_offset,
            batches=(),
        )

    def _delete(self, effect: DeleteLog | None) -> Generator[None, None, None]:
        if effect is not None:
            # the log may be created again, while an fsync of the deleted one is still under way
            self.pending = [
                one._replace(log=None) if one.log == effect.log else one for one in self.pending
            ]
            self.flushes.forget(effect.log)
        return _one_step()

    def _write_checkpoints(self, _: object) -> tuple[tuple[Uuid, Callable[[], Any]], ...]:
        return ((DIRECTORY, lambda: self._delete(None)),)

    # Workers

    def _fsync(self, fsync: Any, done: Any, failed: Any) -> None:  # noqa: ANN401
        effect = self.calls[-2][1]
        assert isinstance(effect, Flush), "a flush begins an fsync"
        covered = self.flushes.covered

        def finish() -> None:
            fsync()
            self.flushes.flushed += covered
            done()

        self.pending.append(Pending("fsync", effect.log, finish, failed))

    def _encode(self, batch: Any, done: Any, failed: Any) -> None:  # noqa: ANN401
        check("a worker encodes the next batch", self.planned)
        following = self.planned[0]
        check("a worker encodes an append", isinstance(following, Append))
        self.pending.append(Pending("encode", None, lambda: done(encode_batch(batch)), failed))

    def _run(self, steps: Any, done: Any, failed: Any) -> None:  # noqa: ANN401
        same("snapshots at a time", len([one for one in self.pending if one.kind == "run"]), 0)
        effect = self.calls[-2][1]
        assert isinstance(effect, WriteSnapshot | CheckSnapshot), "a snapshot is begun"
        number = effect.timestamp_ms if isinstance(effect, WriteSnapshot) else effect.copy
        check("snapshots in the order of their effects", number > self.last_snapshot)
        self.last_snapshot = number
        self.pending.append(Pending("run", None, lambda: done(result_of(steps)), failed))

    def _background(self, steps: Any, done: Any, failed: Any) -> None:  # noqa: ANN401
        self.pending.append(Pending("background", None, lambda: done(result_of(steps)), failed))

    def _barrier(self, done: Callable[[], None]) -> None:
        if self.random.random() < 0.3:
            done()
            return
        self.is_barrier = True

        def finish() -> None:
            self.is_barrier = False
            done()

        self.pending.append(Pending("barrier", None, finish, _never))

    # Peers and clocks

    def _connect(self, destination: NodeId, owner: object, *, is_to_broker: bool) -> Connection:
        one = Connection(owner, self.on_close, destination, is_to_broker=is_to_broker)
        self.lanes.connect(one)
        return one

    def _send(self, connection: Connection, number: int, request: Send | Forward) -> None:
        check("a request of the next effect", self.planned and self.planned[0] is request)
        check("a number of its own", number not in connection.sent)
        self.lanes.send(connection, request, self.now_ns)
        connection.sent[number] = request
        self.calls[-1] = ("send", request)

    def _after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        check("a delay is not negative", delay_ns >= 0)
        self.timers.append(Timer(self.now_ns + delay_ns, action))
        return self.timers[-1]

    def _now_ns(self) -> int:
        return self.now_ns

    def _now(self) -> Instant:
        return Instant(Monotonic(self.now_ns), WallClock(0))

    def _set_deadline(self, deadline: Monotonic | None) -> None:
        self.deadline = deadline

    # The process and the observer

    def _wake(self) -> None:
        self.wakes()

    def _exit(self, effect: object) -> None:
        self.is_over = True
        self.ends.append(effect)

    def _disk_failed(self, error: object) -> None:
        self.is_over = True
        self.ends.append(error)

    def on_effect(self, effect: Effect) -> None:
        """Hear of an effect that was carried out."""
        name, following = CALLS.get(type(effect)), self.planned.popleft()
        if isinstance(effect, Append) and isinstance(following, Append):
            same("the append that was carried out", effect.batch, following.batch)
        else:
            check(f"{type(effect).__name__} is carried out in order", effect is following)
        if isinstance(effect, Flush):
            self.flushes.carried_out(effect)
        if name is not None:
            check(f"{name} of {type(effect).__name__}", any(call == name for call, _ in self.calls))
        self.calls.clear()


def _nothing() -> None:
    """Wake nobody, before the shell is made."""


def _never_mind(connection: Connection) -> None:
    """Take the end of a connection as right."""


def _never(error: OSError) -> None:
    """Stand for the failure of work that can't fail."""


def _one_step() -> Generator[None, None, None]:
    yield


def _cuts_metadata(effect: object) -> bool:
    return isinstance(effect, Truncate) and effect.log is METADATA_LOG


_EPOCH: Final[Any] = 1
