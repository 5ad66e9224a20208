"""Flush the log of a partition, with other effects between the two parts of the flush."""

from typing import TYPE_CHECKING, Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.storage.files import crashed
from kraftproof.cluster.simulated.differential.storage.partitions.model import TOPIC
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Flush

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog

LOST_SHARE: Final = 0.5
"""Share of flushes after which a loss of power is tried on a copy of the disk."""


def flush(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Begin a flush, and end the flush after more appends; perhaps look what a crash leaves."""
    directory = f"{run.homes[log]}/{TOPIC}-{log.partition}"
    has_news, model.flushed_names = model.flushed_names != model.names, model.names
    fsyncs = run.disk.directory_fsyncs[directory]
    end_flush = run.logs.start_flush(Flush(log=log, generation=0, end_offset=Offset(model.end)))
    model.flush()
    end = model.end
    if run.random.random() < 0.5:
        run.append(log, model)
    end_flush()
    model.durable_end = end
    if not has_news:
        same(
            "fsyncs of a directory without a new name", run.disk.directory_fsyncs[directory], fsyncs
        )
    if run.random.random() < LOST_SHARE:
        _lose_power(run, log, model)


def _lose_power(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Look for the flushed batches in a copy of the disk after a loss of power."""
    disk = crashed(run.disk, run.random)
    directory = f"{run.homes[log]}/{TOPIC}-{log.partition}"
    for base, batches in model.segments:
        flushed = b"".join(one.data for one in batches if one.next_offset <= model.durable_end)
        path = f"{directory}/{base:020d}.log"
        found = disk.read(path) if disk.exists(path) else b""
        check(f"the flushed batches of {path}", found.startswith(flushed))


def flush_amid_changes(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Begin a flush, and end the flush after a cut or the deletion of the log.

    The flush makes no record durable that is appended after the cut.
    """
    end_flush = run.logs.start_flush(Flush(log=log, generation=0, end_offset=Offset(model.end)))
    before = model.durable_end
    model.flush()
    model.durable_end = before
    match run.random.choice(("cut", "cut", "restart", "delete")):
        case "cut":
            run.truncate(log, model)
        case "restart":
            run.restart(log, model)
        case _:
            run.delete(log, model)
    end_flush()
