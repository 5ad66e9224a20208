"""Delete a partition's log and create another of its name, and crash at once."""

from typing import TYPE_CHECKING

from kraftproof.cluster.simulated.differential.storage.partitions.checkpoints import checkpoint
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import flush
from kraftproof.node.core.base.log_id import LogId

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog


def renew(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Give a log of the same name no offset of the deleted one, whatever the checkpoints say."""
    run.raise_start(log, model)
    if run.random.random() < 0.5:
        checkpoint(run, log, model)
    run.delete(log, model)
    run.create(log)
    for _ in range(run.random.choice((1, 3))):
        run.append(log, run.models[log])
    flush(run, log, run.models[log])
    run.start_again()
