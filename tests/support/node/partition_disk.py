"""The partition logs of a node on a simulated disk, and the ways in which a node ends."""

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.log_effects import (
    CreateLog,
    FindTimestamp,
    LogRead,
    RaiseLogStart,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.storage.partitions.log_directory import LogDirectory
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs
from kraftproof.node.wire.records.raw_batch import parse_batches
from kraftproof.node.wire.types import Uuid
from tests.support.node.raw_batches import raw

HOME = "/data"
HOME_ID = Uuid(bytes(15) + b"\xee")
LOG = LogId(Uuid(b"topic of the log"), 3)
TOPIC = "orders"
DIRECTORY = f"{HOME}/orders-3"
NO_LIMIT = 1 << 40


class PartitionDisk:
    """One log directory, opened and opened again."""

    def __init__(self, disk=None, segment_bytes=1000, homes=((HOME, HOME_ID),)):
        self.disk = disk or SimulatedFileSystem()
        self.segment_bytes = segment_bytes
        self.homes = homes
        for path, _ in homes:
            self.disk.make_directory(path)
        self.disk.fsync_directory("/")
        self.open()

    def open(self):
        """Start a node on what the disk holds."""
        self.logs = PartitionLogs(
            self.disk,
            [
                LogDirectory(self.disk, path, directory_id, self.segment_bytes)
                for path, directory_id in self.homes
            ],
        )
        self.recovered, self.warnings = self.logs.open()
        return self.recovered

    def lose_power(self, random):
        """End the node by a loss of power, and start it again."""
        self.logs.close()
        self.disk.crash(random)
        return self.open()

    def kill(self):
        """End the node by SIGKILL, and start it again."""
        self.logs.close()
        return self.open()

    def stop(self, broker_epoch=-1):
        """End the node in order, and start it again."""
        self.logs.stop(broker_epoch)
        self.logs.close()
        return self.open()

    def create(self, log=LOG, topic=TOPIC):
        self.logs.create(CreateLog(log=log, topic=topic))

    def append(self, *batches, log=LOG):
        for batch in batches:
            self.logs.append(Append(log, batch))

    def flush(self, log=LOG):
        self.logs.start_flush(Flush(log=log, generation=0, end_offset=Offset(0)))()

    def truncate(self, end_offset):
        self.logs.truncate(Truncate(LOG, Offset(end_offset)))

    def restart(self, start_offset):
        self.logs.restart(RestartLog(log=LOG, start_offset=Offset(start_offset)))

    def raise_start(self, start_offset):
        self.logs.raise_start(RaiseLogStart(log=LOG, start_offset=Offset(start_offset)))

    def checkpoint(self, high_watermark):
        effect = WriteCheckpoints(high_watermarks=((LOG, high_watermark),))
        for _, begin in self.logs.write_checkpoints(effect):
            run(begin())

    def read(self, offset, end_offset=NO_LIMIT, max_bytes=NO_LIMIT, *, may_exceed=True, log=LOG):
        read = LogRead(
            topic_index=0,
            partition_index=0,
            log=log,
            offset=Offset(offset),
            end_offset=Offset(end_offset),
            max_bytes=max_bytes,
            may_exceed=may_exceed,
        )
        return self.logs.read(read)

    def read_all(self, start, log=LOG):
        """Return every batch from an offset on, read after read as a consumer does."""
        batches, offset = [], start
        while data := self.read(offset, log=log):
            batches += parse_batches(data)
            offset = batches[-1].next_offset
        return batches

    def find(self, timestamp_ms, start=0, end=NO_LIMIT):
        effect = FindTimestamp(
            token=7,
            log=LOG,
            timestamp_ms=timestamp_ms,
            start_offset=Offset(start),
            end_offset=Offset(end),
        )
        return run(self.logs.find_timestamp(effect))


def run(steps):
    """Take all steps, and return what the last one returns."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def chain(count, *, start=0, epoch=1, **keywords):
    """Return batches of one, two and three records."""
    batches, offset = [], start
    for index in range(count):
        values = [b"%d-%d" % (offset, each) for each in range(1 + index % 3)]
        batches.append(raw(offset, *values, epoch=epoch, **keywords))
        offset = batches[-1].next_offset
    return batches


def created(*batches, segment_bytes=1000):
    node = PartitionDisk(segment_bytes=segment_bytes)
    node.create()
    node.append(*batches)
    return node


def segments(node, directory=DIRECTORY):
    return [name for name in node.disk.list_directory(directory) if name.endswith(".log")]
