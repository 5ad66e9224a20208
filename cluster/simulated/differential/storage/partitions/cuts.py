"""Restart and cut logs below, at and above their starts, and start again soon after.

A log begins again after an unclean election or after the deletion of records at its leader. The
stored start, the recovery point and the segments have to follow, in an order that any end of the
process leaves readable.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed
from kraftproof.cluster.simulated.differential.storage.partitions.checkpoints import checkpoint
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import flush
from kraftproof.cluster.simulated.differential.storage.partitions.interrupted import (
    InterruptedFileSystem,
    InterruptionError,
)
from kraftproof.cluster.simulated.differential.storage.partitions.logs import LOGS, PartitionRun
from kraftproof.cluster.simulated.differential.storage.partitions.model import (
    HOMES,
    TOPIC,
    ModelLog,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Truncate
from kraftproof.node.core.log_effects import RaiseLogStart, RestartLog
from kraftproof.node.wire.records.raw_batch import RawBatch

ROUNDS: Final = 3
MOST_BATCHES: Final = 3
KILLED_SHARE: Final = 0.4
"""Share of cuts during which the process ends."""
MOST_CHANGES: Final = 14
"""Maximum number of changes of the disk before the process ends."""


def compare_partition_cuts(random: Random) -> None:
    """Cut logs, and compare what a start finds with the model of each log.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    run = _CutRun(random)
    for _ in range(ROUNDS):
        log = random.choice(LOGS[:2])
        if log not in run.models:
            run.create(log)
        run.prepare(log, run.models[log])
        if random.random() < KILLED_SHARE:
            run.cut_and_die(log, run.models[log])
        else:
            run.cut(log, run.models[log])
        run.append_some(log, run.models[log])
        run.compare_files()
        run.start_again()
        run.compare_files()


class _CutRun(PartitionRun):
    """Partitions on a disk whose process may end at any time."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._cut_to = 0
        """The start of the last cut."""
        self._disk = self.disk = InterruptedFileSystem()
        for path in HOMES:
            self.disk.make_directory(path)
        self.disk.fsync_directory("/")
        self.logs = self._opened()

    def append_some(self, log: LogId, model: ModelLog) -> None:
        """Append a few batches, of which most are flushed, and maybe write the checkpoints."""
        for _ in range(self.random.randint(0, MOST_BATCHES)):
            self.append(log, model)
        if self.random.random() < 0.7:
            flush(self, log, model)
        if self.random.random() < 0.2:
            checkpoint(self, log, model)

    def prepare(self, log: LogId, model: ModelLog) -> None:
        """Append batches, and raise the start of the log."""
        self.append_some(log, model)
        if self.random.random() < 0.8:
            self._raise(log, model, self.random.randint(model.start, model.end))
        self.append_some(log, model)

    def _raise(self, log: LogId, model: ModelLog, start: int) -> None:
        self.logs.raise_start(RaiseLogStart(log=log, start_offset=Offset(start)))
        model.raise_start(start)

    def cut(self, log: LogId, model: ModelLog) -> None:
        """Begin the log again anywhere, or truncate the log at its start or below."""
        self._cut_to = start = self.random.randint(0, model.start)
        if self.random.random() < 0.3:
            self.logs.truncate(Truncate(log, Offset(start)))
            model.truncate(start)
            return
        start = self.random.choice((0, start, start, model.start, model.end, model.end + 5))
        self._cut_to = start
        self.logs.restart(RestartLog(log=log, start_offset=Offset(start)))
        model.restart(start)

    def cut_and_die(self, log: LogId, model: ModelLog) -> None:
        """End the process amid a cut or a raise of the start, and go on with what is found.

        A raise keeps the durable records above the new start. Any other cut may keep records, in
        one piece.
        """
        for other in [one for one in self.models if one != log]:
            self.delete(other, self.models[other])
        flush(self, log, model)
        before, starts, kept_from = model.batches, {model.start}, model.end
        durable = [one for one in before if one.next_offset <= model.durable_end]
        self._disk.left = self.random.randrange(MOST_CHANGES)
        try:
            if self.random.random() < 0.5:
                kept_from = self.random.randint(model.start, model.end)
                starts.add(kept_from)
                self._raise(log, model, kept_from)
            else:
                self.cut(log, model)
        except InterruptionError:
            self._disk.left = None
            starts.add(self._cut_to)
            durable = [one for one in durable if one.next_offset > kept_from]
            self.models[log] = found = self._found(log, before, starts, durable)
            found.written_watermark = model.written_watermark
        self._disk.left = None

    def _found(
        self, log: LogId, before: list[RawBatch], starts: set[int], durable: list[RawBatch]
    ) -> ModelLog:
        """Start after an end of the process, and return the model of what is left."""
        if self.random.random() < 0.5:
            self.disk = self._disk = crashed(self._disk, self.random)
        else:
            self.disk.kill("")
        self.logs = self._opened()
        (found,), _ = self.logs.open()
        same("damaged logs", self.logs.damaged, ())
        model = ModelLog(self.segment_bytes)
        model.segments = self._segments(log, before)
        model.start, model.end = found.start_offset, found.end_offset
        what = f"after a kill amid a cut of {log}"
        first = model.segments[0][0]
        check(f"the start {model.start} {what}, of {starts}", model.start in {*starts, first})
        check(f"the start {what} is within the log", first <= model.start <= model.end)
        stored = model.batches
        same(f"the end {what}", model.end, stored[-1].next_offset if stored else first)
        places = [before.index(one) for one in stored]
        same(f"the places of the batches {what}", places, _range_of(places))
        lost = [one.base_offset for one in durable if one not in stored]
        same(f"the lost batches {what}", lost, [])
        model.epochs = [(int(epoch), int(start)) for epoch, start in found.epochs]
        model.high_watermark = found.high_watermark
        model.kept = [one for one in found.producer_batches if one.base_offset < first]
        model.flush()
        return model

    def _segments(self, log: LogId, before: list[RawBatch]) -> list[tuple[int, list[RawBatch]]]:
        """Return the segments on the disk, each with its batches."""
        segments: list[tuple[int, list[RawBatch]]] = []
        known = {one.data: one for one in before}
        directory = f"{self.homes[log]}/{TOPIC}-{log.partition}"
        for path, data in sorted(content_of(self.disk, directory).items()):
            if not path.endswith(".log"):
                continue
            found, position = list[RawBatch](), 0
            while position < len(data):
                size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
                batch = known.get(data[position : position + size])
                check(f"the batch at byte {position} of {path} was there before", batch)
                assert batch is not None, "checked"
                found.append(batch)
                position += size
            segments.append((int(path[-24:-4]), found))
        return segments


def _range_of(places: list[int]) -> list[int]:
    return list(range(places[0], places[0] + len(places))) if places else []
