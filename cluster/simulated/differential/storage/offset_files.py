"""Compare the files of offsets, epochs and producers with the same facts in plain dictionaries."""

import struct
from random import Random
from typing import Final

from crc32c import crc32c

from kraftproof.cluster.simulated.differential.difference import named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import crashed, put
from kraftproof.cluster.simulated.differential.storage.partitions.model import facts_of
from kraftproof.cluster.simulated.differential.storage.replacements import compare_replacements
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_raw, expected_batch
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage import checkpoints, offset_files
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.partitions import producer_files
from kraftproof.node.wire.records.raw_batch import RawBatch

POINTS: Final = "/a/recovery-point-offset-checkpoint"
STARTS: Final = "/a/log-start-offset-checkpoint"
WATERMARKS: Final = "/a/replication-offset-checkpoint"
METADATA: Final = ("__cluster_metadata", 0)
DAY_MS: Final = 86_400_000


def compare_offset_files(random: Random) -> None:
    """Write, read and damage files of offsets.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    _compare_offsets(random)
    _compare_checkpoints(random)
    _compare_producers(random)
    compare_replacements(random, new_disk())


def new_disk() -> SimulatedFileSystem:
    """Return a disk with an empty directory."""
    disk = SimulatedFileSystem()
    disk.make_directory("/a")
    disk.fsync_directory("/")
    return disk


def lines_of(disk: SimulatedFileSystem, path: str) -> list[str]:
    """Return the lines of a file."""
    return disk.read(path).decode().split("\n")


def _compare_offsets(random: Random) -> None:
    disk = new_disk()
    same("no file of offsets", offset_files.read_offsets(disk, POINTS), {})
    offsets = {
        (random.choice(("a", "b.c_d-1", "x" * 249)), random.randrange(3)): random.choice(
            (0, 5, (1 << 63) - 1)
        )
        for _ in range(random.choice((0, 1, 4)))
    }
    offset_files.write_offsets(disk, POINTS, offsets)
    rows = [f"{topic} {number} {offsets[topic, number]}" for topic, number in sorted(offsets)]
    expected = ["0", str(len(rows)), *rows, ""]
    same("a file of offsets", lines_of(crashed(disk, random), POINTS), expected)
    same("the offsets of a file", offset_files.read_offsets(disk, POINTS), offsets)
    for wrong in (
        "1\n0\n",
        "0\n1\n",
        "0\n0\na 0 1\n",
        "0\n1\na 0\n",
        "0\n1\na 0 -1\n",
        "0\n1\na 0 1 2\n",
        "0\n1\na b 0 1\n",
        f"0\n1\n{'x' * 250} 0 1\n",
        "0\n2\na 0 1\n?\n",
        "",
        "0\n",
    ):
        put(disk, POINTS, wrong.encode())
        text = refused(repr(wrong), StorageError, offset_files.read_offsets, disk, POINTS)
        named(repr(wrong), text, POINTS)
    put(disk, STARTS, b"0\n1\na 0 7\n")
    found, warnings = offset_files.read_checkpoints(disk, "/a")
    names = [one.rpartition("/")[2] for one in (STARTS, POINTS, WATERMARKS)]
    same("three files", found, {names[0]: {("a", 0): 7}, names[1]: {}, names[2]: {}})
    same("a warning for each garbled file", len(warnings), 1)
    named("a garbled file", warnings[0], POINTS)
    put(disk, WATERMARKS, b"?")
    put(disk, POINTS, b"0\n1\nb 1 9\n")
    found, warnings = offset_files.read_checkpoints(disk, "/a")
    same("two files", (found[names[1]], found[names[2]], len(warnings)), ({("b", 1): 9}, {}, 1))
    put(disk, STARTS, b"?")
    text = refused("garbled starts", StorageError, offset_files.read_checkpoints, disk, "/a")
    named("garbled starts", text, STARTS, "remove")


def _compare_checkpoints(random: Random) -> None:
    """Follow the checkpoints of the metadata log through stops, truncations and starts."""
    disk = new_disk()
    stored = {STARTS: 0, POINTS: 0, WATERMARKS: 0}
    for _ in range(6):
        found = checkpoints.OffsetCheckpoints(disk, "/a")
        what = f"checkpoints {sorted(stored.values())}"
        offsets = found.recovery_point, found.high_watermark
        same(what, offsets, (stored[POINTS], stored[WATERMARKS]))
        durable = max(stored[POINTS], stored[WATERMARKS])
        start, end = random.randrange(9), durable + random.randrange(4)
        if durable and random.random() < 0.4:
            name = POINTS if end - 1 < stored[POINTS] and stored[POINTS] == durable else WATERMARKS
            short = durable - 1
            text = refused("a short log", StorageError, found.recovered, start, short)
            file = POINTS if short < stored[POINTS] else WATERMARKS
            word = "durable" if file == POINTS else "committed"
            named("a short log", text, "/a", file.rpartition("/")[2], short, stored[file], word)
            del name
        match random.randrange(3):
            case 0:
                found.recovered(start, end)
                stored |= {STARTS: start, POINTS: end}
            case 1:
                end = random.randrange(durable + 2)
                found.lower(end)
                stored |= {name: min(stored[name], end) for name in (POINTS, WATERMARKS)}
            case _:
                watermark = random.randrange(end + 3)
                found.stopped(start, end, watermark)
                stored |= {STARTS: start, POINTS: end, WATERMARKS: min(watermark, end)}
        disk = crashed(disk, random)
        for path, offset in stored.items():
            if disk.exists(path) or offset:
                expected = {METADATA: offset}
                same(f"the file {path}", offset_files.read_offsets(disk, path), expected)
    for wrong in (b"?", b"0\n0\n", b"0\n1\nother 0 1\n", b"0\n1\n__cluster_metadata 1 1\n"):
        put(disk, WATERMARKS, wrong)
        text = refused(str(wrong), StorageError, checkpoints.OffsetCheckpoints, disk, "/a")
        named(str(wrong), text, WATERMARKS, "remove")


def _compare_producers(random: Random) -> None:
    """Keep the last batches of producers, and write and read their file."""
    recent, log, offset = producer_files.RecentProducers(), list[RawBatch](), 100
    for _ in range(20):
        drawn = expected_batch(draw_raw(random, offset))
        log.append(drawn)
        recent.note(drawn)
        offset = drawn.next_offset
    mine = [one for one in log if one.producer_id != -1]
    kept = [
        one
        for place, one in enumerate(mine)
        if sum(later.producer_id == one.producer_id for later in mine[place:]) <= 5
    ]
    found = [(one.base_offset, one.producer_id, one.data) for one in recent.batches()]
    same(
        "the batches of producers", found, [(one.base_offset, one.producer_id, b"") for one in kept]
    )
    end, newest_ms = random.randint(100, offset), random.choice((0, DAY_MS, 1 << 41))
    last = {
        one.producer_id: one
        for one in kept
        if one.next_offset <= end and one.max_timestamp_ms >= newest_ms - DAY_MS
    }
    below = recent.last_below(end, newest_ms)
    same(
        "the last batches below", sorted(map(facts_of, below)), sorted(map(facts_of, last.values()))
    )
    disk, path = new_disk(), f"/a/{end:020d}.snapshot"
    producer_files.write_producers(disk, "/a", end, below)
    entries = b"".join(
        struct.pack(
            ">qhiqiqiq",
            one.producer_id,
            one.producer_epoch,
            (one.base_sequence + one.last_offset_delta) & 0x7FFFFFFF,
            one.last_offset,
            one.last_offset_delta,
            one.max_timestamp_ms,
            -1,
            -1,
        )
        for one in below
    )
    body = struct.pack(">i", len(below)) + entries
    content = struct.pack(">hI", 1, crc32c(body)) + body
    same("the file of producers", crashed(disk, random).read(path), content)
    again = producer_files.read_producers_file(disk, "/a", end)
    same("the producers of a file", sorted(map(facts_of, again)), sorted(map(facts_of, below)))
    for wrong in (content[:-1], b"\0\2" + content[2:], b"", content + b"\0"):
        put(disk, path, wrong)
        same("a damaged file", producer_files.read_producers_file(disk, "/a", end), ())
    same("no file of producers", producer_files.read_producers_file(disk, "/a", end + 1), ())
    put(disk, f"/a/{end + 1:020d}.snapshot", b"")
    put(disk, "/a/other", b"")
    producer_files.remove_other_files(disk, "/a", end)
    same("the files of producers", disk.list_directory("/a"), [path.rpartition("/")[2], "other"])
