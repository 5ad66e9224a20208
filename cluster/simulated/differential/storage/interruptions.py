"""Lose the power between any two operations of the disk, and compare the next start with a list.

Each kind of change of a node's metadata directory is interrupted: an append, a truncation, another
quorum state, a snapshot of the node and of the leader, a cleaning, an orderly stop, and a start.
The next start accepts the files, and finds the state before the change or after it. What was
durable before is there, and what the change has made durable once it ended (KIP-595, KIP-630).
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    check,
    same,
)
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed
from kraftproof.cluster.simulated.differential.storage.interrupted_log import (
    Log,
    wrong_start,
)
from kraftproof.cluster.simulated.differential.work import result_of
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.snapshots import SnapshotFiles
from kraftproof.node.storage.stored import StorageConfig, Stored, open_node_storage
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord, TopicRecord
from kraftproof.node.wire.types import Uuid

CHANGES: Final = 12
SEGMENT_BYTES: Final = (1, 200, 1 << 20)
OPERATIONS: Final = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
"""Number of operations of the disk before the loss of power."""
MOST_OF_A_START: Final = 40
CONFIG: Final = StorageConfig(
    node_id=NodeId(4),
    directories=("/meta",),
    metadata_directory="/meta",
    voter_ids=(NodeId(1), NodeId(4)),
)


Change = tuple[Callable[[], None], Sequence[Log], Log]
"""An action, the states that an interruption may leave, and the state after the action."""


def compare_interruptions(random: Random) -> None:
    """Interrupt drawn changes, and start after each.

    Raises:
        DifferenceError: a start refuses the files, or finds another state.
    """
    disk = SimulatedFileSystem()
    format_directories(
        disk, ("/meta",), MetaProperties(cluster_id="c" * 22, node_id=NodeId(4)), ids={}
    )
    disk.fsync_directory("/")
    run = _Run(random, disk)
    for _ in range(CHANGES):
        run.change()


class _Run:
    """A node's storage, and the state that its next start has to find."""

    def __init__(self, random: Random, disk: SimulatedFileSystem) -> None:
        self._random, self._disk = random, disk
        self._config = replace(CONFIG, segment_bytes=random.choice(SEGMENT_BYTES))
        self._images: dict[SnapshotId, MetadataImage] = {}
        self._epoch = 1
        self._copies = 0
        self._log = Log(batches=[], least=0, snapshots=[], states=[QuorumState()])
        self._stored = open_node_storage(disk, self._config)

    def change(self) -> None:
        """Carry out changes, interrupt the last one, and start again."""
        random = self._random
        for _ in range(random.choice((0, 1, 2))):
            action, _, self._log = self._append()
            action()
        kinds = (self._append, self._cut, self._cut, self._persist, self._write, self._clean)
        action, halfway, after = random.choice((*kinds, self._install, self._install, self._stop))()
        faults = DiskFaults(random)
        faults.crash_after(random.choice(OPERATIONS), lambda: None)
        self._disk.disk_faults = faults
        try:
            action()
        except OSError:
            check("only a loss of power fails", faults.hits)
        self._disk.disk_faults = None
        self._stored.storage.close()
        allowed = [*halfway, after] if faults.hits else [after]
        self._disk = crashed(self._disk, random) if random.random() < 0.7 else self._disk
        if random.random() < 0.3:
            self._interrupt_start()
        what = f"{action.__qualname__.split('.')[-3][1:]}, whole: {not faults.hits}"
        self._start(what, allowed)

    def _interrupt_start(self) -> None:
        random, faults = self._random, DiskFaults(self._random)
        faults.crash_after(random.randrange(MOST_OF_A_START), lambda: None)
        self._disk.disk_faults = faults
        try:
            self._opened("of the next start").storage.close()
        except OSError:
            check("only a loss of power fails", faults.hits)
        self._disk.disk_faults = None
        self._disk = crashed(self._disk, random)

    def _opened(self, what: str) -> Stored:
        try:
            return open_node_storage(self._disk, self._config)
        except StorageError as error:
            raise DifferenceError(f"after an interruption ({what}): {error}") from error

    def _start(self, what: str, allowed: Sequence[Log]) -> None:
        """Start, and compare the state with those that are allowed."""
        stored = self._opened(what)
        found = [one for one in allowed if wrong_start(stored, one, self._images) is None]
        wrong = [wrong_start(stored, one, self._images) for one in allowed]
        check(f"after an interruption ({what}) a start finds {wrong}", found)
        same(f"the warnings of a start ({what})", stored.warnings, ())
        parts = [path for path in content_of(self._disk, "/meta") if path.endswith(".part")]
        same(f"no unfinished file is left ({what})", parts, [])
        log, history = found[-1], stored.history
        end = stored.batches[-1].next_offset if stored.batches else history.log_start.end_offset
        kept = [one for one in log.batches if one.next_offset <= end]
        snapshots = [one.snapshot for one in history.kept]
        self._log = Log(
            batches=kept,
            least=end,
            snapshots=snapshots,
            states=[stored.durable],
            watermark=history.high_watermark,
        )
        self._stored = stored

    # The changes

    def _append(self) -> Change:
        log, random = self._log, self._random
        self._epoch += random.random() < 0.2
        batch = Batch(
            base_offset=log.end,
            epoch=self._epoch,
            timestamp_ms=log.end,
            records=(NoOpRecord(),) * random.choice((1, 3)),
        )
        has_flush = random.random() < 0.6
        flush = Flush(log=METADATA_LOG, generation=0, end_offset=Offset(batch.next_offset))
        storage = self._stored.storage

        def append() -> None:
            storage.append(Append(METADATA_LOG, batch))
            if has_flush:
                storage.start_flush(flush)()

        written = log.after(batches=[*log.batches, batch])
        after = written.after(least=written.end) if has_flush else written
        return append, [log, written], after

    def _cut(self) -> Change:
        """Truncate at the begin of a batch above every snapshot, in most cases near the end."""
        log, random = self._log, self._random
        lowest = max([log.watermark, *(one.end_offset for one in log.snapshots)])
        ends = [one.base_offset for one in log.batches if one.base_offset >= lowest]
        end = random.choice([log.end, *ends[-3:], *ends[-3:]])
        storage = self._stored.storage

        def cut() -> None:
            storage.truncate(Truncate(METADATA_LOG, Offset(end)))

        halfway = log.after(least=min(log.least, end))
        kept = [one for one in log.batches if one.base_offset < end]
        self._epoch += 1
        return cut, [halfway], log.after(batches=kept, least=min(log.least, end))

    def _persist(self) -> Change:
        log, storage = self._log, self._stored.storage
        self._epoch += 1
        state = QuorumState(
            epoch=Epoch(self._epoch), voted_for=NodeId(self._random.choice((-1, 1, 4)))
        )

        def persist() -> None:
            storage.persist_quorum_state(PersistQuorumState(state))

        before, after = log.after(), log.after()
        before.states, after.states = [*log.states, state], [state]
        return persist, [before], after

    def _write(self) -> Change:
        """Write a snapshot of flushed records, unless there is one."""
        log, storage = self._log, self._stored.storage
        newest = log.snapshots[-1].end_offset if log.snapshots else 0
        ends = [one for one in log.batches if newest < one.next_offset <= log.least]
        if not ends:
            return self._append()
        last = self._random.choice(ends)
        of = SnapshotId(Offset(last.next_offset), Epoch(last.epoch))
        effect = WriteSnapshot(snapshot=of, image=self._image(of), timestamp_ms=5)

        def write() -> None:
            result_of(storage.write_snapshot(effect))

        return write, [log], log.after(snapshots=[*log.snapshots, of])

    def _clean(self) -> Change:
        log, storage = self._log, self._stored.storage
        if len(log.snapshots) < 2:
            return self._write()
        kept = log.snapshots[-2:]

        def clean() -> None:
            storage.clean(CleanLog(kept[0]))

        return clean, [log], log.after(snapshots=kept)

    def _install(self) -> Change:
        """Install a snapshot of the leader, mostly above the log, in place of the log."""
        log, random, storage = self._log, self._random, self._stored.storage
        lowest = max([1, log.watermark, *(one.end_offset + 1 for one in log.snapshots)])
        self._epoch += 1
        end = max(lowest, log.end + random.choice((-3, -1, 1, 5)))
        of = SnapshotId(Offset(end), Epoch(self._epoch))
        source = SimulatedFileSystem()
        source.make_directory("/s")
        result_of(SnapshotFiles(source, "/s").write(of, self._image(of), 5))
        ((_, data),) = content_of(source, "/s").items()
        self._copies += 1
        number = self._copies

        def install() -> None:
            storage.store_slice(StoreSlice(copy=number, snapshot=of, position=0, data=data))
            result_of(storage.check_snapshot(CheckSnapshot(copy=number, snapshot=of)))
            storage.install_snapshot(InstallSnapshot(copy=number, snapshot=of))

        before = log.after(least=min(log.least, end))
        return install, [before], log.after(batches=[], least=end, snapshots=[of])

    def _stop(self) -> Change:
        log, storage = self._log, self._stored.storage
        watermark = self._random.randint(log.watermark, log.least)

        def stop() -> None:
            storage.stopped(watermark)

        before, after = log.after(), log.after(least=log.end)
        before.watermark = after.watermark = watermark
        return stop, [before], after

    def _image(self, of: SnapshotId) -> MetadataImage:
        topic = TopicRecord(name=f"t{of.end_offset}", topic_id=Uuid(self._random.randbytes(16)))
        self._images[of] = apply_all(EMPTY_IMAGE, (topic,))
        return self._images[of]
