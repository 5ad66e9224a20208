"""Compare the storage of partitions with plain lists, through appends, cuts, stops and crashes."""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, crashed
from kraftproof.cluster.simulated.differential.storage.open_files import CountedFileSystem
from kraftproof.cluster.simulated.differential.storage.partitions.checkpoints import checkpoint
from kraftproof.cluster.simulated.differential.storage.partitions.ends import end
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import (
    flush,
    flush_amid_changes,
)
from kraftproof.cluster.simulated.differential.storage.partitions.kept_producers import (
    keep_producers,
)
from kraftproof.cluster.simulated.differential.storage.partitions.many_logs import compare_many_logs
from kraftproof.cluster.simulated.differential.storage.partitions.model import (
    HOMES,
    TOPIC,
    ModelLog,
)
from kraftproof.cluster.simulated.differential.storage.partitions.reads import (
    compare_producers,
    compare_readers,
    compare_reads,
    compare_times,
)
from kraftproof.cluster.simulated.differential.storage.partitions.renewals import renew
from kraftproof.cluster.simulated.differential.storage.partitions.starts import (
    compare_recovered,
    compare_rewritten,
    recovery_points,
)
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_produced, expected_batch
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.effects import Append, Truncate
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    NoteEpoch,
    RaiseLogStart,
    RestartLog,
)
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs, partition_logs
from kraftproof.node.wire.types import ZERO_UUID, Uuid

STEPS: Final = 60
MOST_AT_START: Final = 4
"""Maximum number of open files during a start, whatever the number of segments."""
MANY_SHARE: Final = 0.1
"""Share of draws with more logs than may be open."""
KEPT_SHARE: Final = 0.7
"""Share of draws with producers whose batches are about to expire."""
GAPS_SHARE: Final = 0.2
"""Share of runs whose offsets have gaps, after which a start may move the begin of an epoch."""
SEGMENT_BYTES: Final = (100, 700, 1 << 20)
LOGS: Final = tuple(LogId(Uuid(bytes(15) + bytes([place + 11])), place) for place in range(3))


def compare_partition_logs(random: Random) -> None:
    """Carry out drawn operations on partitions, and on their models.

    Raises:
        DifferenceError: the node has another result than the models.
    """
    run = PartitionRun(random)
    for _ in range(STEPS):
        run.step()
    end(run)
    if random.random() < KEPT_SHARE:
        keep_producers(PartitionRun(random), LOGS)
    if random.random() < MANY_SHARE:
        compare_many_logs(random)


class PartitionRun:
    """The partitions of a node with two log directories, and a model of each partition."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.disk = CountedFileSystem()
        for path in HOMES:
            self.disk.make_directory(path)
        self.disk.fsync_directory("/")
        self.models: dict[LogId, ModelLog] = {}
        self.homes: dict[LogId, str] = {}
        self.segment_bytes = random.choice(SEGMENT_BYTES)
        self.has_gaps = random.random() < GAPS_SHARE
        self.now_ms, self.jump_ms = random.choice((0, 1 << 41)), random.choice((1, 70_000_000))
        self.epoch_steps = random.choice(((0,), (0, 0, 0, 1, 2)))
        self.broker_epoch = -1
        """The broker epoch of the last orderly stop; -1 after a crash."""
        self.logs = self._opened()

    def _opened(self) -> PartitionLogs:
        return partition_logs(self.disk, HOMES, self.segment_bytes, HOMES["/d1"])

    def step(self) -> None:
        """Carry out one operation, and compare the files."""
        free = [log for log in LOGS if log not in self.models]
        operations = ["start"]
        if free:
            operations += ["create"] * 2
        if self.models:
            operations += (
                ["append"] * 14 + ["read"] * 6 + ["flush", "truncate", "raise", "find"] * 3
            )
            operations += ["checkpoint", "producers", "delete", "configure", "epoch", "renew"]
            operations += ["restart", "flush amid changes"] * 2
        match self.random.choice(operations):
            case "create":
                self.create(self.random.choice(free))
            case "start":
                self.start_again()
            case name:
                log = self.random.choice(sorted(self.models))
                _OPERATIONS[name](self, log, self.models[log])
        self.compare_files()

    def create(self, log: LogId) -> None:
        """Create a log, in a given directory or in the one with the fewest logs."""
        asked = self.random.choice((ZERO_UUID, *HOMES.values()))
        counts = {path: list(self.homes.values()).count(path) for path in HOMES}
        fewest = min(HOMES, key=lambda path: counts[path])
        home = next((path for path, one in HOMES.items() if one == asked), fewest)
        self.logs.create(CreateLog(log=log, topic=TOPIC, directory=asked))
        same("the directory of a log", self.logs.directory_of(log), HOMES[home])
        self.disk.judge(f"{home}/{TOPIC}-{log.partition}", 0)
        self.homes[log] = home
        self.models[log] = ModelLog(self.segment_bytes)

    def append(self, log: LogId, model: ModelLog) -> None:
        """Append a batch, at times after a gap, as a compacted leader has."""
        offset = model.end + (
            self.random.randrange(1, 4) if self.has_gaps and self.random.random() < 0.2 else 0
        )
        epochs = [one[0] for one in model.epochs] or [0]
        self.now_ms += self.random.choice((0, 1, 1_000, self.jump_ms))
        one = draw_produced(self.random, offset, self.now_ms)
        epoch = epochs[-1] + self.random.choice(self.epoch_steps)
        batch = expected_batch(one).moved(offset, epoch)
        model.times[offset] = [
            one.base_timestamp_ms + record.timestamp_delta for record in one.records
        ]
        self.logs.append(Append(log, batch))
        model.append(batch)

    def truncate(self, log: LogId, model: ModelLog) -> None:
        """Cut at a batch, rarely below the start."""
        after = {0, *(one.next_offset for one in model.batches)}  # no cut behind a gap
        ends = [one.base_offset for one in model.batches if one.base_offset >= model.start]
        ends = [one for one in ends if one in after]
        floor = self.random.randrange(model.start + 1)
        end = (
            floor
            if ends and self.random.random() < 0.2
            else self.random.choice([*ends[-4:], model.end])
        )
        compare_readers(self.logs, log, model)
        self.logs.truncate(Truncate(log, Offset(end)))
        model.truncate(end)
        if self.random.random() < 0.5:
            for _ in range(3):
                self.append(log, model)
            compare_readers(self.logs, log, model)

    def restart(self, log: LogId, model: ModelLog) -> None:
        """Drop all records."""
        start = self.random.choice((0, model.start, model.end, model.end + 5))
        self.logs.restart(RestartLog(log=log, start_offset=Offset(start)))
        model.restart(start)

    def raise_start(self, log: LogId, model: ModelLog) -> None:
        """Raise the start, maybe into a batch, or to the end."""
        start = self.random.choice((self.random.randint(model.start, model.end), model.start))
        start = model.end if self.random.random() < 0.2 else start
        self.logs.raise_start(RaiseLogStart(log=log, start_offset=Offset(start)))
        model.raise_start(start)

    def note_epoch(self, log: LogId, model: ModelLog) -> None:
        """Enter a leader's epoch without records."""
        epoch = (model.epochs[-1][0] if model.epochs else 0) + self.random.choice((0, 1))
        effect = NoteEpoch(log=log, epoch=Epoch(epoch), start_offset=Offset(model.end))
        self.logs.note_epoch(effect)
        model.note_epoch(epoch, model.end)

    def configure(self, log: LogId, model: ModelLog) -> None:
        """Set the size of later segments."""
        model.segment_bytes = self.random.choice(SEGMENT_BYTES)
        self.logs.configure(ConfigureLog(log=log, segment_bytes=model.segment_bytes))

    def delete(self, log: LogId, model: ModelLog) -> None:
        """Delete a log, or keep its directory as a stray one."""
        del model
        is_stray, home = self.random.random() < 0.3, self.homes.pop(log)
        before = set(self.disk.list_directory(home))
        steps = self.logs.delete(DeleteLog(log=log, is_stray=is_stray))
        name = f"{TOPIC}-{log.partition}"
        (retired,) = set(self.disk.list_directory(home)) - before
        check("a deleted log is away", not self.disk.exists(f"{home}/{name}"))
        kind = "-stray" if is_stray else "-delete"
        same(
            "the name of a retired log",
            (retired[: len(name) + 25], retired[-len(kind) :]),
            (f"{name}.{log.topic_id.hex()[:24]}", kind),
        )
        for _ in steps:
            pass
        same("a retired log is kept", self.disk.exists(f"{home}/{retired}"), is_stray)
        del self.models[log]
        same("a deleted log", self.logs.directory_of(log), None)

    def start_again(self) -> None:
        """Stop in order or crash, and start; compare what the start finds."""
        is_clean, self.broker_epoch = self.random.random() < 0.5, -1
        if is_clean:
            self.broker_epoch = self.random.randrange(9)
            self.logs.stop(self.broker_epoch)
            for model in self.models.values():
                model.flush()
                model.written_watermark = model.high_watermark
        if is_clean or self.random.random() < 0.5:
            self.disk = crashed(self.disk, self.random)
        else:
            self.disk.kill("")
        points = recovery_points(self.disk)
        self.logs, self.disk.peak = self._opened(), 0
        self.disk.replaced.clear()
        recovered, warnings = self.logs.open()
        self.disk.judge("", 0)
        check("a start opens few files at a time", self.disk.peak <= MOST_AT_START)
        same("damaged logs", self.logs.damaged, ())
        same("the last stop", self.logs.previous_broker_epoch, self.broker_epoch)
        found = {one.log: one for one in recovered}
        same("recovered logs in order", [one.log for one in recovered], sorted(found))
        for log in sorted(self.models):
            if log not in found:
                check("a flushed log is there", not self.models[log].is_flushed)
                del self.models[log], self.homes[log]
        same("recovered logs", sorted(found), sorted(self.models))
        for log, one in found.items():
            model = self.models[log]
            is_exact = is_clean and not self.has_gaps
            directory = f"{self.homes[log]}/{TOPIC}-{log.partition}"
            files = content_of(self.disk, directory)
            synced = [self.disk.is_file_synced(one) for one in files if one.endswith(".log")]
            check(f"the recovered segments of {log} are durable", all(synced))
            compare_recovered(
                *(files, model, one),
                is_clean=is_clean,
                has_exact_epochs=is_exact,
                has_gaps=self.has_gaps,
            )
            compare_rewritten(
                self.disk, directory, model, points.get(directory, 0), is_clean=is_clean
            )
            model.segment_bytes = self.segment_bytes
        for text in warnings:
            named("a warning", text, TOPIC, "partition.metadata")

    def compare_files(self) -> None:
        """Compare the bytes of each segment, and the names of the segments."""
        for log, model in self.models.items():
            directory = f"{self.homes[log]}/{TOPIC}-{log.partition}"
            found = {
                path: data
                for path, data in content_of(self.disk, directory).items()
                if path.endswith(".log")
            }
            expected = {
                f"{directory}/{base:020d}.log": b"".join(one.data for one in batches)
                for base, batches in model.segments
            }
            same(f"the segments of {log}", sorted(found), sorted(expected))
            check(f"the bytes of {log}", found == expected)
            self.disk.judge(directory, 1)
        self.disk.judge("", len(self.models))


_OPERATIONS: Final[dict[str, Callable[[PartitionRun, LogId, ModelLog], None]]] = {
    "append": PartitionRun.append,
    "flush": flush,
    "flush amid changes": flush_amid_changes,
    "truncate": PartitionRun.truncate,
    "restart": PartitionRun.restart,
    "raise": PartitionRun.raise_start,
    "epoch": PartitionRun.note_epoch,
    "configure": PartitionRun.configure,
    "read": lambda run, log, model: compare_reads(run.logs, log, model, run.random),
    "find": lambda run, log, model: compare_times(run.logs, log, model, run.random),
    "producers": lambda run, log, model: compare_producers(run.logs, log, model, run.random),
    "checkpoint": checkpoint,
    "delete": PartitionRun.delete,
    "renew": renew,
}
