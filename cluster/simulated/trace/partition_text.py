"""Format the changes of partition logs for the trace of a simulated run."""

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirrors
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect, Truncate
from kraftproof.node.core.log_effects import (
    CreateLog,
    DeleteLog,
    NoteEpoch,
    RaiseLogStart,
    RestartLog,
)
from kraftproof.node.wire.records.raw_batch import RawBatch


def format_partition_change(log: LogId, effect: Effect, mirrors: PartitionMirrors) -> str:
    """Return the text of an effect that has changed a log; the text names the partition."""
    mirror = mirrors.get(log)
    topic = str(log.topic_id.hex()) if mirror is None else mirror.topic
    return f"{topic}-{log.partition}: {_format_effect(effect)}"


def _format_effect(effect: Effect) -> str:
    match effect:
        case Append(batch=RawBatch() as batch):
            last = batch.last_offset
            place = f"{batch.base_offset}" if batch.count == 1 else f"{batch.base_offset}-{last}"
            return f"appends {place}@{batch.epoch}"
        case Truncate():
            return f"truncates to {effect.end_offset}"
        case CreateLog():
            return "creates the log"
        case DeleteLog():
            return "sets the stray log aside" if effect.is_stray else "deletes the log"
        case RestartLog():
            return f"drops all records, and goes on at {effect.start_offset}"
        case RaiseLogStart():
            return f"raises the start to {effect.start_offset}"
        case NoteEpoch():
            return f"begins epoch {effect.epoch} at {effect.start_offset}"
        case _:
            return type(effect).__name__
