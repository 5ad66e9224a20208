"""Fail a log directory at any operation of its disk, and compare what the shell makes of it.

The shell carries out drawn effects on the logs of three directories, over real log files. From a
drawn operation on, every use of one directory is an error: in an effect, in an fsync, or in a step
of a worker, such as one of a deletion. The node hears once of the directory, by its id, and the
process ends only with the directory of the metadata log (KIP-112, KIP-858). The logs of the other
directories have every batch, and each look-up, read and flush of them has its answer.
"""

from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.shell.drawn_workers import (
    HOMES,
    DirectoryFaults,
    DrawnWorkers,
    FailingDisk,
)
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_produced, expected_batch
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.effects import Append, Flush, Reply, Truncate
from kraftproof.node.core.events import DirectoryFailed, Event, Flushed, TimestampFound
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    ReplyWithBatches,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.shell.partition_executor import PartitionExecutor
from kraftproof.node.storage.partitions.partition_logs import partition_logs
from kraftproof.node.wire.messages.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

HISTORIES: Final = 3
STEPS: Final = 40
STORAGE_ERROR: Final = 56
TOPIC: Final = "t"
TOPIC_ID: Final = Uuid(b"\6" * 16)
MOST_LOGS: Final = 6
SEGMENT_BYTES: Final = (100, 1 << 20)
KINDS: Final = (
    *("append", "append", "append", "flush", "delete", "delete", "cut", "restart", "raise"),
    *("epoch", "configure", "find", "find", "producers", "read", "checkpoint"),
)


def compare_failing_directories(random: Random) -> None:
    """Carry out drawn effects while a directory fails.

    Raises:
        DifferenceError: another directory ends, or the process; or something is not answered.
    """
    for _ in range(HISTORIES):
        _Run(random).run()


class _Run:
    """The logs of a broker, each with its home and its batches."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._disk = FailingDisk()
        for path in HOMES:
            self._disk.make_directory(path)
        self._doomed, self._vital = random.choice([*HOMES]), random.choice([*HOMES])
        self._workers = DrawnWorkers(random)
        self._logs = partition_logs(
            self._disk, HOMES, random.choice(SEGMENT_BYTES), HOMES[self._vital]
        )
        self._logs.open()
        self._posted: list[Event] = []
        self._ended: list[OSError] = []
        self._replies: list[Reply] = []
        self._executor = PartitionExecutor(
            self._logs,
            self._workers,
            reply=self._replies.append,
            post=self._posted.append,
            post_first=lambda event: self._posted.insert(0, event),
            on_failure=self._ended.append,
        )
        self._handlers: dict[type, Any] = {
            **self._executor.handlers(),
            Append: self._executor.append,
            Flush: self._executor.flush,
            Truncate: self._executor.truncate,
        }
        self._homes: dict[LogId, str] = {}
        self._batches: dict[LogId, list[RawBatch]] = {}
        self._starts: dict[LogId, int] = {}
        self._number = 0
        self._asked: set[int] = set()
        """The look-ups without an answer."""
        self._flushes: list[Flush] = []
        """The flushes of logs that were not deleted since."""

    def run(self) -> None:
        """Take drawn steps, let the directory fail within them, and finish the work."""
        begin = self._random.randrange(STEPS // 2)
        for number in range(STEPS):
            if number == begin:
                self._begin_to_fail()
            if self._workers.is_busy and self._random.random() < 0.4:
                self._workers.step()
            else:
                self._act()
            if self._judge():
                return
        while self._workers.is_busy:
            self._workers.step()
            if self._judge():
                return
        self._compare_end()

    def _begin_to_fail(self) -> None:
        """Refuse every use of the directory from now on, or from a drawn change on."""
        changes = self._random.choice((None, 0, 1, 2, 3, 5))
        if changes is None:
            self._disk.failed_directories = {self._doomed}
        else:
            self._disk.disk_faults = DirectoryFaults(self._disk, self._doomed, changes)

    def _judge(self) -> bool:
        """Compare the failures that the node hears of; return whether the process has ended."""
        failed = [one for one in self._posted if isinstance(one, DirectoryFailed)]
        is_vital = self._doomed == self._vital
        due = [HOMES[self._doomed]] if self._disk.hits and not is_vital else []
        same("the directories that the node hears of", [one.directory for one in failed], due)
        ends = bool(self._disk.hits) and is_vital
        same("the process ends with its vital directory alone", bool(self._ended), ends)
        return ends

    def _act(self) -> None:
        kind = self._random.choice(KINDS)
        if len(self._homes) < 2 or (len(self._homes) < MOST_LOGS and self._random.random() < 0.15):
            self._create()
        elif kind == "checkpoint":
            marks = tuple((log, Offset(self._starts[log])) for log in sorted(self._homes))
            self._handlers[WriteCheckpoints](WriteCheckpoints(high_watermarks=marks))
        else:
            self._change(kind, self._random.choice(sorted(self._homes)))

    def _create(self) -> None:
        self._number += 1
        log, home = LogId(TOPIC_ID, self._number), self._random.choice([*HOMES])
        self._homes[log], self._batches[log], self._starts[log] = home, [], 0
        self._handlers[CreateLog](CreateLog(log=log, topic=TOPIC, directory=HOMES[home]))

    def _change(self, kind: str, log: LogId) -> None:
        """Carry out an effect on a log, which has no effect in a failed directory."""
        random, batches, start = self._random, self._batches[log], self._starts[log]
        end = batches[-1].next_offset if batches else start
        ends = [one.base_offset for one in batches if one.base_offset >= start] or [end]
        match kind:
            case "append":
                batch = expected_batch(draw_produced(random, end, 5)).moved(end, 1)
                batches.append(batch)
                self._handlers[Append](Append(log, batch))
            case "flush":
                flush = Flush(log=log, generation=0, end_offset=Offset(end))
                self._flushes.append(flush)
                self._handlers[Flush](flush)
            case "delete":
                self._flushes = [one for one in self._flushes if one.log != log]
                del self._homes[log]
                is_stray = random.random() < 0.2
                self._handlers[DeleteLog](DeleteLog(log=log, is_stray=is_stray))
            case "cut":
                cut = random.choice(ends)
                self._batches[log] = [one for one in batches if one.base_offset < cut]
                self._handlers[Truncate](Truncate(log, Offset(cut)))
            case "restart":
                self._batches[log], self._starts[log] = [], end + 3
                self._handlers[RestartLog](RestartLog(log=log, start_offset=Offset(end + 3)))
            case "raise":
                self._starts[log] = random.choice(ends)
                raised = RaiseLogStart(log=log, start_offset=Offset(self._starts[log]))
                self._handlers[RaiseLogStart](raised)
            case _:
                self._ask(kind, log, end)

    def _ask(self, kind: str, log: LogId, end: int) -> None:
        """Ask for something in a log, or note something about it."""
        start = Offset(self._starts[log])
        match kind:
            case "find":
                self._number += 1
                self._asked.add(self._number)
                effect = FindTimestamp(
                    token=self._number,
                    log=log,
                    timestamp_ms=self._random.choice((0, 6)),
                    start_offset=start,
                    end_offset=Offset(end),
                )
                self._handlers[FindTimestamp](effect)
            case "producers":
                asked = ReadProducers(log=log, generation=0, end_offset=Offset(end))
                self._handlers[ReadProducers](asked)
            case "epoch":
                self._handlers[NoteEpoch](NoteEpoch(log=log, epoch=Epoch(1), start_offset=start))
            case "configure":
                self._handlers[ConfigureLog](ConfigureLog(log=log, segment_bytes=100))
            case _:
                self._read(log, start, end)

    def _read(self, log: LogId, start: int, end: int) -> None:
        """Read a log: whole batches of a segment, or an error in a failed directory."""
        part = PartitionData(partition_index=log.partition, high_watermark=9)
        topic = FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=(part,))
        read = LogRead(
            topic_index=0,
            partition_index=0,
            log=log,
            offset=Offset(start),
            end_offset=Offset(end),
            max_bytes=1 << 30,
        )
        message = FetchResponse(responses=(topic,))
        self._handlers[ReplyWithBatches](
            ReplyWithBatches(request=self._number, message=message, reads=(read,))
        )
        reply: Any = self._replies.pop().message
        same("the answers to a Fetch", len(self._replies), 0)
        found = reply.responses[0].partitions[0]
        has_failed = bool(self._disk.hits) and self._homes[log] == self._doomed
        same("the error of a read", found.error_code, STORAGE_ERROR if has_failed else 0)
        kept = [one.data for one in self._batches[log] if one.next_offset > start]
        most = b"" if has_failed else b"".join(kept)
        is_right = most.startswith(found.records) and len(found.records) >= len(most[:1])
        check(f"the batches of log {log.partition} from offset {start} on", is_right)

    def _compare_end(self) -> None:
        """Compare the answers and the files, after all work."""
        found = [one.token for one in self._posted if isinstance(one, TimestampFound)]
        same("the answers of the look-ups", sorted(found), sorted(self._asked))
        flushed = [(one.log, one.end_offset) for one in self._posted if isinstance(one, Flushed)]
        for flush in self._flushes:
            if self._homes[flush.log] != self._doomed:
                check("a flush is reported", (flush.log, flush.end_offset) in flushed)
        has_failed = bool(self._disk.hits)
        for path in HOMES:
            if path in self._disk.failed_directories:
                continue
            names = {name for name in self._disk.list_directory(path) if name.startswith(TOPIC)}
            own = {f"{TOPIC}-{log.partition}" for log, home in self._homes.items() if home == path}
            gone = {name for name in names - own if not name.endswith("-stray")}
            same(f"the logs in {path}", (names & own, gone), (own, set()))
            for log in sorted(one for one, home in self._homes.items() if home == path):
                for batch in self._batches[log]:
                    if batch.next_offset > self._starts[log]:
                        self._read(log, batch.base_offset, 1 << 40)
        lost = {log for log, home in self._homes.items() if home == self._doomed and has_failed}
        failed = self._executor.failed
        known = {log for log in lost if failed and failed.has(TOPIC_ID, TOPIC, log.partition)}
        same("the logs that a step knows as failed", known, lost)
