"""Invariant of the answers to DescribeLogDirs, judged by the files on the disk (KIP-113, KIP-827).

An answer has each wanted log of a working directory once, under the directory that has its files.
The size is that of the segments, and an estimate after a deletion or truncation of records: the
index of a log knows the positions of spans, not of batches. A replica that is no future replica has
no lag, since the high watermark never passes the end of its own log.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.directory_files import DirectoryFiles
from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_log_dirs_request,
    describe_log_dirs_response,
)

VOLUMES_FROM: Final = 4
"""First version of the answer with the bytes of the volume."""
Request = describe_log_dirs_request.DescribeLogDirsRequest
Result = describe_log_dirs_response.DescribeLogDirsResult
Described = describe_log_dirs_response.DescribeLogDirsPartition
Name = tuple[str, int]
"""Topic and number of a partition."""


class LogDirsMatchFiles(Invariant):
    """DescribeLogDirs, which operators read before they move replicas, describes the disk."""

    statement = (
        "DescribeLogDirs has each log of the broker under its directory, with the bytes of its "
        "files, no lag, and the bytes of the volume."
    )
    requests: ClassVar[Requests] = (Request,)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        if not isinstance(request, Request) or not isinstance(
            message, describe_log_dirs_response.DescribeLogDirsResponse
        ):
            return
        if message.error_code != ErrorCode.NONE:
            return  # the rights of clients are judged elsewhere
        wanted = None
        if request.topics is not None:
            wanted = {(each.topic, index) for each in request.topics for index in each.partitions}
        mirrors = dict(_mirrors(process))
        files = {each.path: each for each in process.log_directories()}
        paths = sorted(each.log_dir for each in message.results)
        if paths != sorted(files):
            self._report(process, f"the directories {paths} are described, not {sorted(files)}")
            return
        described: list[Name] = []
        for result in message.results:
            found = files[result.log_dir]
            described += self._judge(process, event.version, result, found, mirrors)
        due = sorted(name for name in mirrors if wanted is None or name in wanted)
        if sorted(described) != due:
            self._report(process, f"the logs {sorted(described)} are described, not {due}")

    def _judge(
        self,
        process: ProcessView,
        version: int,
        result: Result,
        found: DirectoryFiles,
        mirrors: dict[Name, PartitionMirror],
    ) -> list[Name]:
        """Judge a directory; return the described logs."""
        if result.error_code != ErrorCode.NONE:
            if not process.partitions.failed:
                self._report(process, f"{result.log_dir} has error {result.error_code}")
            return []
        volume = (result.total_bytes, result.usable_bytes)
        if version >= VOLUMES_FROM and volume != found.volume:
            detail = f"{result.log_dir} is described with a volume of {volume}, not {found.volume}"
            self._report(process, detail)
        names: list[Name] = []
        for topic in result.topics:
            for part in topic.partitions:
                name = (topic.name, part.partition_index)
                names.append(name)
                mirror, size = mirrors.get(name), found.logs.get(name)
                if mirror is None or size is None:
                    self._report(process, f"{result.log_dir} has no log {name}")
                    continue
                fact = _wrong(part, mirror, size)
                if fact:
                    self._report(process, f"log {name} in {result.log_dir}: {fact}")
        return names

    def _report(self, process: ProcessView, detail: str) -> None:
        self.monitor.report_violation(self, process, detail)


def _mirrors(process: ProcessView) -> Iterable[tuple[Name, PartitionMirror]]:
    """Yield the logs in working directories."""
    for log in process.partitions:
        mirror = process.partitions.of(log)
        if mirror.directory not in process.partitions.failed:
            yield (mirror.topic, log.partition), mirror


def _wrong(part: Described, mirror: PartitionMirror, file_bytes: int) -> str | None:
    """Return what is wrong with the description of a log."""
    if part.is_future_key or part.offset_lag:
        return f"future {part.is_future_key}, lag {part.offset_lag}"
    has_records = mirror.end_offset > mirror.start_offset
    if mirror.start_offset or mirror.generation != mirror.recovered_generation:
        is_right = (part.partition_size > 0) == has_records
    else:
        is_right = part.partition_size == file_bytes
    if is_right:
        return None
    return f"{part.partition_size} bytes are described, the files have {file_bytes}"
