"""Compare reads of partitions by offset, by time and by producer with the model."""

from random import Random

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog, facts_of
from kraftproof.cluster.simulated.differential.work import result_of
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.log_effects import (
    MAX_TIMESTAMP,
    FindTimestamp,
    LogRead,
    ReadProducers,
)
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs


def compare_reads(logs: PartitionLogs, log: LogId, model: ModelLog, random: Random) -> None:
    """Read from drawn offsets, and go on where a read has ended.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    offset = random.randint(max(model.start - 1, 0), model.end + 1)
    for _ in range(3):
        end = random.choice((model.end, model.end, random.randrange(model.end + 2)))
        sizes = [len(one.data) for one in model.batches] or [1]
        most = random.choice((0, 60, 61, sum(sizes[-2:]), sizes[-1] - 1, 1 << 20))
        may_exceed = random.random() < 0.5
        found = logs.read(
            LogRead(
                topic_index=0,
                partition_index=0,
                log=log,
                offset=Offset(offset),
                end_offset=Offset(end),
                max_bytes=most,
                may_exceed=may_exceed,
            )
        )
        expected = model.read(offset, end, most, may_exceed=may_exceed)
        what = f"{most} bytes from offset {offset} to {end} of {model.start} to {model.end}"
        same(what, found.hex(), expected.hex())
        after = [one.next_offset for one in model.batches if found.endswith(one.data)]
        offset = after[-1] if found and after else offset


def compare_readers(logs: PartitionLogs, log: LogId, model: ModelLog) -> None:
    """Read a batch at a time, as consumers that are at different offsets of the log.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    for offset in range(max(model.start, model.end - 12), model.end):
        read = LogRead(
            topic_index=0,
            partition_index=0,
            log=log,
            offset=Offset(offset),
            end_offset=Offset(model.end),
            max_bytes=1,
        )
        expected = model.read(offset, model.end, 1, may_exceed=True)
        same(f"the batch at offset {offset}", logs.read(read).hex(), expected.hex())


def compare_times(logs: PartitionLogs, log: LogId, model: ModelLog, random: Random) -> None:
    """Look up records by time.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    times = [time_ms for _, time_ms, _ in model.records(0, model.end)] or [0]
    for _ in range(2):
        time_ms = random.choice(times) + random.choice((-1, 0, 0, 1))
        time_ms = MAX_TIMESTAMP if random.random() < 0.3 else max(time_ms, 0)
        start = random.randint(model.start, model.end)
        start = model.start if random.random() < 0.5 else start
        end = random.choice((model.end, random.randint(start, model.end)))
        effect = FindTimestamp(
            token=5,
            log=log,
            timestamp_ms=time_ms,
            start_offset=Offset(start),
            end_offset=Offset(end),
        )
        steps = logs.find_timestamp(effect)
        found = result_of(steps)
        is_newest = time_ms == MAX_TIMESTAMP
        expected = (
            model.find_newest(start, end) if is_newest else model.find_time(time_ms, start, end)
        )
        facts = found.offset, found.timestamp_ms, found.epoch
        what = f"the record of time {time_ms} from {start} to {end}"
        same(what, (found.token, found.has_failed, *facts), (5, False, *(expected or (-1,) * 3)))


def compare_producers(logs: PartitionLogs, log: LogId, model: ModelLog, random: Random) -> None:
    """Read the last batches of each producer.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    end = random.choice((model.end, random.randint(model.start, model.end)))
    effect = ReadProducers(log=log, generation=7, end_offset=Offset(end))
    found = result_of(logs.read_producers(effect))
    same("a read of producers", (found.log, found.generation, found.end_offset), (log, 7, end))
    facts = [facts_of(one) for one in found.batches]
    same(f"the producers below {end}", facts, model.producers_below(end))
