"""Flush the log of a partition, with other effects between the two parts of the flush."""

from typing import TYPE_CHECKING

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Flush

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog


def flush(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Begin a flush, and end the flush after more appends."""
    end_flush = run.logs.start_flush(Flush(log=log, generation=0, end_offset=Offset(model.end)))
    model.flush()
    end = model.end
    if run.random.random() < 0.5:
        run.append(log, model)
    end_flush()
    model.durable_end = end


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
