"""Compare the storage of the metadata log with a list of batches, through cuts and crashes."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed, put
from kraftproof.cluster.simulated.differential.storage.open_files import CountedFileSystem
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.log import DEFAULT_SEGMENT_BYTES, MetadataLog
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, NoOpRecord

DIRECTORY: Final = "/data/__cluster_metadata-0"
STEPS: Final = 40
SEGMENT_BYTES: Final = (100, 300, 1 << 20)
DAMAGES: Final = 4
RECORDS: Final = (NoOpRecord(), FeatureLevelRecord(name="f" * 60, feature_level=1))


def compare_metadata_logs(random: Random) -> None:
    """Carry out drawn operations on a log and on a list of batches; then damage the files.

    Raises:
        DifferenceError: the node has another result than the list.
    """
    run = LogRun(random)
    for _ in range(STEPS):
        run.step()
    run.start_again()
    for _ in range(DAMAGES):
        run.damage()
    run.lose_segments()
    same("the usual size of a segment", DEFAULT_SEGMENT_BYTES, 1 << 30)


class LogRun:
    """A metadata log, and a list with the batches of each of its segments."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.disk = CountedFileSystem()
        self.disk.make_directory("/data")
        self.disk.fsync_directory("/")
        self.segment_bytes = random.choice(SEGMENT_BYTES)
        self.start = LOG_BEGIN
        self.segments: list[tuple[int, list[Batch]]] = [(0, [])]
        self.end = 0
        self.durable_end = 0
        self.epoch = 1
        self.log = self._open(self.disk)[0]

    @property
    def batches(self) -> list[Batch]:
        """Return the stored batches, some below the start."""
        return [batch for _, batches in self.segments for batch in batches]

    def _open(self, disk: SimulatedFileSystem) -> tuple[MetadataLog, list[Batch]]:
        snapshots = () if self.start == LOG_BEGIN else (self.start,)
        size, durable = self.segment_bytes, self.durable_end
        return MetadataLog.open(disk, DIRECTORY, size, snapshots, durable)

    def step(self) -> None:
        """Carry out an operation, and compare the files."""
        match self.random.choice(("append",) * 8 + ("flush", "cut", "clean", "reset", "start")):
            case "append":
                self._append()
            case "flush":
                self._flush()
            case "cut":
                self._cut()
            case "clean":
                self._clean()
            case "reset" if self.random.random() < 0.3:
                self._reset()
            case "start":
                self.start_again()
            case _:
                pass
        self._compare_files()

    def _append(self) -> None:
        self.epoch += self.random.choice((0, 0, 1))
        batch = Batch(
            base_offset=self.end,
            epoch=self.epoch,
            timestamp_ms=5,
            records=tuple(self.random.choices(RECORDS, k=self.random.choice((1, 2)))),
        )
        self.log.append(batch)
        data = encode_batch(batch)
        size = sum(len(encode_batch(one)) for one in self.segments[-1][1])
        if size and size + len(data) > self.segment_bytes:
            self.segments.append((self.end, []))
        self.segments[-1][1].append(batch)
        self.end = batch.next_offset

    def _flush(self) -> None:
        """Flush, with appends between the two parts of the flush."""
        flush, end = self.log.start_flush(), self.end
        if self.random.random() < 0.5:
            self._append()
        flush()
        self.durable_end = end

    def _cut(self) -> None:
        ends = [one.base_offset for one in self.batches if one.base_offset >= self.start.end_offset]
        if not ends:
            return
        generation, end = self.log.generation, self.random.choice(ends[-4:])
        flush = self.log.start_flush()
        self.log.truncate(end)
        flush()
        check("a cut begins a generation", self.log.generation > generation)
        while len(self.segments) > 1 and self.segments[-1][0] >= end:
            self.segments.pop()
        base, batches = self.segments.pop()
        self.segments.append((base, [one for one in batches if one.base_offset < end]))
        self.end, self.durable_end = end, min(self.durable_end, end)

    def _clean(self) -> None:
        """Start the log at the end of a snapshot, which must be durable before."""
        ends = [one for one in self.batches if one.next_offset > self.start.end_offset]
        if not ends:
            return
        self._flush()
        last = self.random.choice(ends)
        start = SnapshotId(Offset(last.next_offset), Epoch(last.epoch))
        self.log.clean(start)
        same("the start of a cleaned log", self.log.start, start)
        self.start = start
        if self.segments[-1][1]:
            self.segments.append((self.end, []))
        while len(self.segments) > 1 and self.segments[1][0] <= start.end_offset:
            self.segments.pop(0)
        before = content_of(self.disk, DIRECTORY)
        self.log.clean(start)
        check("a second cleaning changes nothing", content_of(self.disk, DIRECTORY) == before)

    def _reset(self) -> None:
        self.epoch += 1
        start = SnapshotId(Offset(self.end + self.random.randrange(1, 9)), Epoch(self.epoch))
        generation, flush = self.log.generation, self.log.start_flush()
        self.log.reset(start)
        flush()
        check("a reset begins a generation", self.log.generation > generation)
        self.start, self.end, self.durable_end = start, start.end_offset, start.end_offset
        self.segments = [(self.end, [])]

    def start_again(self) -> None:
        """Start after a loss of power, or on the files as they are."""
        self.log.close()
        self.disk.judge("", 0)
        if self.random.random() < 0.5:
            self.disk = crashed(self.disk, self.random)
        elif self.random.random() < 0.5:
            self.disk.kill(DIRECTORY)
        self.log, found = self._open(self.disk)
        if 0 in _bases(self.disk):
            self.start = LOG_BEGIN  # one snapshot over a whole log removes nothing
        start, visible = self.start.end_offset, self._visible()
        same("the start of a log", self.log.start, self.start)
        same("the recovered batches", found, visible[: len(found)])
        check(
            f"nothing durable is lost: {self.log.end_offset}",
            self.log.end_offset >= max(self.durable_end, start),
        )
        ends = [start, *(one.next_offset for one in found)]
        same("the end of a log", self.log.end_offset, ends[-1])
        self.end = self.durable_end = self.log.end_offset
        names = _bases(self.disk)
        self.segments = [
            (base, [one for one in batches if one.next_offset <= self.end])
            for base, batches in self.segments
            if base in names
        ] or [(base, []) for base in sorted(names)]
        check("a recovered log is durable", self.disk.is_synced(DIRECTORY))
        self._compare_files()

    def _visible(self) -> list[Batch]:
        return [one for one in self.batches if one.base_offset >= self.start.end_offset]

    def _compare_files(self) -> None:
        same("the end offset", self.log.end_offset, self.end)
        expected = {
            f"{DIRECTORY}/{base:020d}.log": b"".join(map(encode_batch, batches))
            for base, batches in self.segments
        }
        found = {
            path: data
            for path, data in content_of(self.disk, DIRECTORY).items()
            if path.endswith(".log")
        }
        same("the segments", sorted(found), sorted(expected))
        check("the bytes of the segments", found == expected)
        self.disk.judge(DIRECTORY, len(expected))

    def damage(self) -> None:
        """Flip a bit; a start refuses the log, or recovers up to a damaged last batch."""
        stored = [place for place, (_, batches) in enumerate(self.segments) if batches]
        if not stored:
            return
        copy = crashed(self.disk, self.random)
        place = self.random.choice(stored)
        base, batches = self.segments[place]
        index = self.random.randrange(len(batches))
        begin = sum(len(encode_batch(one)) for one in batches[:index])
        size = len(encode_batch(batches[index]))
        at = begin + self.random.choice((*range(8), 16, *range(17, size)))
        path = f"{DIRECTORY}/{base:020d}.log"
        data = bytearray(copy.read(path))
        data[at] ^= 1 << self.random.randrange(8)
        put(copy, path, bytes(data))
        what, is_offset = f"a bit of byte {at} in {path}", at - begin < 8
        is_last = place == len(self.segments) - 1 and index == len(batches) - 1
        before = content_of(copy, DIRECTORY)
        if is_last and not is_offset:
            found = self._open(copy)[1]
            kept = [one for one in self._visible() if one.base_offset < batches[index].base_offset]
            same(f"{what}: the batches", found, kept)
            if batches[index].base_offset >= self.start.end_offset:
                same(f"{what}: the cut segment", len(copy.read(path)), begin)
            return
        text = refused(what, StorageError, self._open, copy)
        named(what, text, path, f"byte {begin}")
        check(f"{what}: the files stay", content_of(copy, DIRECTORY) == before)

    def lose_segments(self) -> None:
        """Lose a segment, and meet snapshots of another log."""
        if len(self.segments) > 2 and self.segments[1][1]:
            copy = crashed(self.disk, self.random)
            copy.remove(f"{DIRECTORY}/{self.segments[1][0]:020d}.log")
            path = f"{DIRECTORY}/{self.segments[2][0]:020d}.log"
            text = refused("a lost segment", StorageError, self._open, copy)
            named("a lost segment", text, path, f"ends at {self.segments[1][0]}")
        visible = self._visible()
        if visible:
            end, epoch = Offset(visible[-1].next_offset), Epoch(visible[-1].epoch)
            for wrong in (SnapshotId(end, Epoch(epoch - 1)), SnapshotId(Offset(end - 1), epoch)):
                inner = {one.next_offset for one in self.batches[:-1]}
                if wrong.end_offset in inner or wrong.end_offset <= self.segments[0][0]:
                    continue
                copy = crashed(self.disk, self.random)
                arguments = (copy, DIRECTORY, self.segment_bytes, (wrong,), 0)
                text = refused(f"{wrong}", StorageError, MetadataLog.open, *arguments)
                named(f"{wrong}", text, DIRECTORY, wrong.end_offset)
        if self.start != LOG_BEGIN and visible:
            copy = crashed(self.disk, self.random)
            if self.segments[0][0] > 0:
                whole = copy, DIRECTORY, self.segment_bytes
                text = refused("no snapshot", StorageError, MetadataLog.open, *whole)
                named("no snapshot", text, f"offset {self.segments[0][0]}")
        if visible:
            newer = SnapshotId(Offset(self.end + 7), Epoch(visible[-1].epoch + 1))
            copy = crashed(self.disk, self.random)
            log, found = MetadataLog.open(copy, DIRECTORY, self.segment_bytes, (newer,), 0)
            same(
                "a log behind its snapshot",
                (log.start, log.end_offset, found),
                (newer, self.end + 7, []),
            )
            same("the segments of a new log", _bases(copy), {self.end + 7})


def _bases(disk: SimulatedFileSystem) -> set[int]:
    names = disk.list_directory(DIRECTORY)
    return {int(name[:-4]) for name in names if name.endswith(".log")}
