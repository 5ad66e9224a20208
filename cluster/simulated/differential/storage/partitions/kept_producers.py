"""Remove the segments of producers whose batches are about to expire, and start again."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.storage.partitions.model import DAY_MS
from kraftproof.cluster.simulated.differential.storage.partitions.reads import compare_producers
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_produced, expected_batch
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Append, Truncate
from kraftproof.node.core.log_effects import RaiseLogStart

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog

NEWEST_MS: Final = 1 << 41
SEQUENCES: Final = 1 << 31
"""The number after the largest sequence number is 0 (KIP-98)."""


def keep_producers(run: "PartitionRun", logs: Iterable[LogId]) -> None:
    """Keep the last batches of producers by their age, with sequence numbers that wrap."""
    for log in logs:
        run.create(log)
        model = run.models[log]
        for _ in range(run.random.randint(1, 4)):
            _append(run, log, model, DAY_MS + run.random.choice((-1, 0, 1)))
        _append(run, log, model, run.random.choice((0, 0, DAY_MS)))
        _remove_older(run, log, model)
        compare_producers(run.logs, log, model, run.random)
        _append(run, log, model, 0)
    run.start_again()


def _remove_older(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Raise the start of a log, and maybe cut the log below its start."""
    ends = [one.next_offset for one in model.batches]
    start = run.random.choice((*ends[:-1], *ends[-2:]))
    run.logs.raise_start(RaiseLogStart(log=log, start_offset=Offset(start)))
    model.raise_start(start)
    if run.random.random() < 0.7:
        end = run.random.choice((start, start, start, run.random.randint(0, start)))
        run.logs.truncate(Truncate(log, Offset(end)))
        model.truncate(end)


def _append(run: "PartitionRun", log: LogId, model: "ModelLog", age_ms: int) -> None:
    """Append a batch of one of three producers."""
    random, time_ms = run.random, NEWEST_MS - age_ms
    one = draw_produced(random, model.end, time_ms)
    one = replace(
        one,
        records=tuple(replace(record, timestamp_delta=0) for record in one.records),
        max_timestamp_ms=time_ms,
        producer_id=random.randrange(3),
        producer_epoch=random.randrange(1 << 15),
        base_sequence=random.choice((0, SEQUENCES - random.randint(1, 3))),
    )
    batch = expected_batch(one).moved(model.end, 0)
    model.times[model.end] = [time_ms for _ in one.records]
    run.logs.append(Append(log, batch))
    model.append(batch)
