"""Use more partitions than a node keeps open files for."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.storage.open_files import CountedFileSystem
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.log_effects import CreateLog, DeleteLog
from kraftproof.node.storage.partitions.partition_logs import partition_logs
from kraftproof.node.wire.types import Uuid

MOST_OPEN: Final = 256
AGAIN: Final = 12
"""Number of flushes of logs that were used before, some of which were closed meanwhile."""
HOME: Final = Uuid(b"\1" * 16)
TOPIC: Final = "many"


def compare_many_logs(random: Random) -> None:
    """Flush more logs than may be open: the logs that were used last stay open.

    Raises:
        DifferenceError: other files are open.
    """
    disk = CountedFileSystem()
    disk.make_directory("/d")
    logs = partition_logs(disk, {"/d": HOME}, 1 << 20, None)
    every = [LogId(Uuid(b"\2" * 16), number) for number in range(MOST_OPEN + 3)]
    for log in every:
        logs.create(CreateLog(log=log, topic=TOPIC))
    disk.judge("", 0)
    used: list[LogId] = []
    order = random.sample(every, len(every))
    for number in range(len(order) + AGAIN):
        is_again = number >= len(order)
        log = used[random.choice((0, 3, -1))] if is_again else order[number]
        logs.start_flush(Flush(log=log, generation=0, end_offset=Offset(0)))()
        used = [one for one in used if one != log] + [log]
        found = len(disk.open_paths)
        same(f"the open files after {len(used)} logs", found, min(len(used), MOST_OPEN))
    expected = sorted(_path(log) for log in used[-MOST_OPEN:])
    same("the logs that stay open", disk.open_paths, expected)
    for _ in logs.delete(DeleteLog(log=used[-1])):
        pass
    logs.fail(HOME)
    disk.judge("", 0)


def _path(log: LogId) -> str:
    return f"/d/{TOPIC}-{log.partition}/{0:020d}.log"
