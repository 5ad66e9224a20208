"""Delete a partition's log and create another of its name, and crash at once."""

from typing import TYPE_CHECKING

from kraftproof.node.core.base.log_id import LogId

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partition_logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partition_model import ModelLog


def renew(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Give a log of the same name no offset of the deleted one, whatever the checkpoints say."""
    run.raise_start(log, model)
    if run.random.random() < 0.5:
        run.checkpoint(log, model)
    run.delete(log, model)
    run.create(log)
    for _ in range(run.random.choice((1, 3))):
        run.append(log, run.models[log])
    run.flush(log, run.models[log])
    run.start_again()
