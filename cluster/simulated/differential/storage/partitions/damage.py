"""Damage the files of partitions, and compare what a start refuses, cuts or ignores."""

from collections.abc import Sequence
from copy import deepcopy
from random import Random

from kraftproof.cluster.simulated.differential.difference import check, named, same
from kraftproof.cluster.simulated.differential.storage.files import content_of, put
from kraftproof.cluster.simulated.differential.storage.partitions.checkpoints import checkpoint
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import flush
from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
from kraftproof.cluster.simulated.differential.storage.partitions.model import (
    HOMES,
    TOPIC,
    ModelLog,
)
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.storage.partitions.partition_logs import partition_logs

STEPS = 25
COVERED_FROM = 21
"""The first byte of a batch that the CRC covers."""
DAMAGES = 4
LENGTH_AT = 8
"""The first byte of the length of a batch."""


def compare_partition_damage(random: Random) -> None:
    """Start on damaged segments, with and without an orderly stop before.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    run = PartitionRun(random)
    for _ in range(STEPS):
        run.step()
    for log, model in run.models.items():
        flush(run, log, model)
        checkpoint(run, log, model)
    damaged = [log for log, model in run.models.items() if model.batches]
    for _ in range(DAMAGES if damaged else 0):
        log = random.choice(damaged)
        _compare_damaged(run, log, run.models[log], random)


def _compare_damaged(run: PartitionRun, log: LogId, model: ModelLog, random: Random) -> None:
    """Flip a bit of a batch; the segments below the recovery point must be whole."""
    disk, home = deepcopy(run.disk), run.homes[log]
    stored = [(place, base) for place, (base, batches) in enumerate(model.segments) if batches]
    place, base = random.choice(stored)
    batches = model.segments[place][1]
    index = random.randrange(len(batches))
    begin = sum(len(one.data) for one in batches[:index])
    at = begin + random.randrange(COVERED_FROM, len(batches[index].data))
    path = f"{home}/{TOPIC}-{log.partition}/{base:020d}.log"
    points = _points(disk, home)
    following = [one for one, _ in model.segments[place + 1 :]]
    is_durable = bool(following) and following[0] <= points.get(log.partition, 0)
    if is_durable:
        at = begin + LENGTH_AT  # records below the recovery point are not checked
    data = bytearray(disk.read(path))
    data[at] ^= 0x40 if is_durable else 1 << random.randrange(8)
    put(disk, path, bytes(data))
    before = content_of(disk, f"{home}/{TOPIC}-{log.partition}")
    logs = partition_logs(disk, HOMES, run.segment_bytes, None)
    recovered, warnings = logs.open()
    found = {one.log: one for one in recovered}
    what = f"a bit of byte {at} in {path}"
    if is_durable:
        same(f"{what} is refused", [one.log for one in logs.damaged], [log])
        check(f"{what}: the log is offline", log not in found)
        named(what, warnings[-1], path, f"byte {begin} ")
        check(f"{what}: the files stay", content_of(disk, _directory(home, log)) == before)
        _compare_entries(disk, home, log, points)
        return
    same(f"{what}: the log is cut", (logs.damaged, log in found), ((), 1))
    end = batches[index - 1].next_offset if index else _end_before(model, place)
    if end >= model.start:
        same(f"{what}: the end of the log", found[log].end_offset, end)
    files = content_of(disk, _directory(home, log))
    kept = b"".join(one.data for one in batches[:index])
    if end >= model.start:
        same(f"{what}: the cut segment", files[path], kept)
        same(f"{what}: later segments", sorted(set(files) & set(_later(home, log, following))), [])


def _compare_entries(
    disk: SimulatedFileSystem, home: str, log: LogId, points: dict[int, int]
) -> None:
    """Compare the checkpoint of a refused log, which a later start needs."""
    found = _points(disk, home).get(log.partition)
    same("the recovery point of a refused log", found, points[log.partition])


def _points(disk: SimulatedFileSystem, home: str) -> dict[int, int]:
    """Return the recovery points in a log directory, by partition."""
    rows = disk.read(f"{home}/recovery-point-offset-checkpoint").decode().splitlines()[2:]
    return {int(row.split()[1]): int(row.split()[2]) for row in rows}


def _end_before(model: ModelLog, place: int) -> int:
    """Return the end of the log if its segment at a place has no sound batch."""
    return model.segments[place][0]


def _directory(home: str, log: LogId) -> str:
    return f"{home}/{TOPIC}-{log.partition}"


def _later(home: str, log: LogId, bases: Sequence[int]) -> list[str]:
    return [f"{_directory(home, log)}/{base:020d}.log" for base in bases]
