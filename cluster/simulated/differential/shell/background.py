"""Compare what the shell does when work beside the steps fails in a log directory."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.shell.partitions_rig import (
    HOME,
    LOGS,
    PartitionsRig,
)
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.events import DirectoryFailed, TimestampFound
from kraftproof.node.core.log_effects import (
    DeleteLog,
    FindTimestamp,
    ReadProducers,
    WriteCheckpoints,
)

TOKEN: Final = 8
ERROR: Final = OSError(5, "Input/output error")
_LOST: Final = TimestampFound(
    token=TOKEN, offset=Offset(-1), timestamp_ms=-1, epoch=Epoch(-1), has_failed=True
)


def compare_background(random: Random) -> None:
    """Let two works in a directory fail, one after the other: the directory ends once.

    Raises:
        DifferenceError: the node hears something else, or the process does not end.
    """
    is_vital, log = random.random() < 0.3, random.choice(LOGS[1:])
    disk = PartitionsRig(is_vital=is_vital)
    works = (
        FindTimestamp(
            token=TOKEN, log=log, timestamp_ms=1, start_offset=Offset(0), end_offset=Offset(1)
        ),
        ReadProducers(log=log, generation=0, end_offset=Offset(0)),
        DeleteLog(log=log),
        WriteCheckpoints(high_watermarks=()),
    )
    chosen = random.sample(works, 2)
    for work in chosen:
        disk.handlers[type(work)](work)
    same("the works beside the steps", len(disk.failures), len(chosen))
    for place, work in enumerate(chosen):
        disk.posted.clear()
        disk.failures[place](ERROR)
        heard: list[object] = [_LOST] if isinstance(work, FindTimestamp) else []
        if place == 0 and not is_vital:
            heard.insert(0, DirectoryFailed(directory=HOME, reason=str(ERROR)))
        same(f"the events after the failure of {type(work).__name__}", disk.posted, heard)
        same("the ends of the process", len(disk.ended), int(is_vital))
        if is_vital:
            disk.executor.close()
    same("the failures of a directory", disk.failed_times, int(not is_vital))
    _compare_begin()


def _compare_begin() -> None:
    """Let the work that writes checkpoints fail at its begin."""
    disk = PartitionsRig(is_vital=False)
    disk.fails = "begin"
    disk.handlers[WriteCheckpoints](WriteCheckpoints(high_watermarks=()))
    failed = DirectoryFailed(directory=HOME, reason=str(ERROR))
    same("a failed begin of checkpoints", (disk.posted, disk.failures), ([failed], []))
