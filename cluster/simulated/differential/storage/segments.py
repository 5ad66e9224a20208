"""Compare a segment, its sparse index and the reading of headers with lists of all batches."""

from functools import lru_cache
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.storage.files import put
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    ReferenceBatch,
    ReferenceRecord,
)
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.segments.headers import read_headers
from kraftproof.node.storage.segments.segment import Segment
from kraftproof.node.storage.segments.sparse_index import SparseIndex
from kraftproof.node.wire.errors import WireError

HOME: Final = "/d"
PATH: Final = f"{HOME}/a"
FIRST_INTERVAL: Final = 4096
MOST_ENTRIES: Final = 1024
PIECE: Final = 1 << 20
"""The bytes that a check of the content reads at once."""
LAST_OF_PIECE: Final = 410_000
"""The distance from the end of a piece at which a batch is drawn that ends there, or close to it.
"""
TIMES: Final = 8
SIZES: Final = (1, 400, 3_000, 16_000, 70_000, 400_000)


class Placed(Struct, frozen=True):
    """A batch of a file."""

    position: int
    length: int
    base: int
    end: int
    time_ms: int


@lru_cache(maxsize=256)
def _template(size: int, count: int, time_ms: int) -> bytes:
    """Return a batch at offset 0; the checksum leaves the offset out."""
    records = (ReferenceRecord(value=bytes(size)),) * count
    one = ReferenceBatch(
        records=records, base_timestamp_ms=time_ms, max_timestamp_ms=time_ms, epoch=1
    )
    return one.data


def _of_length(length: int, time_ms: int) -> bytes:
    """Return a batch of a record and of so many bytes, or of a byte more or less."""
    size = length - 100
    size += length - len(_template(size, 1, time_ms))
    return _template(size, 1, time_ms)


def _moved(data: bytes, base: int) -> bytes:
    return base.to_bytes(8, "big") + data[8:]


def compare_segments(random: Random) -> None:
    """Fill an index, read the headers of a large file, and read and cut a segment.

    Raises:
        DifferenceError: a position, a time, a batch or an error is another one.
    """
    _compare_index(random)
    _compare_headers(random)
    _compare_segment(random)


def _compare_index(random: Random) -> None:
    index = SparseIndex()
    entries: list[tuple[int, int, int]] = []
    interval, offset, position, newest = FIRST_INTERVAL, 0, 0, -1
    longest = random.choice((900, 9_000, 16_000))
    for _ in range(random.choice((50, 1_500, 2_600))):
        index.add(offset, position, newest)
        if not entries or position - entries[-1][1] >= interval:
            entries.append((offset, position, newest))
            if len(entries) > MOST_ENTRIES:
                interval, entries = interval * 2, entries[::2]
        newest = max(newest, random.randint(0, 1 << 20))
        offset += random.randint(1, 3)
        position += random.randint(70, longest)
        if random.random() < 0.002:
            position = random.choice(entries[-30:])[1] + random.choice((-1, 0, 1, 0))
            index.truncate(position)
            entries = [entry for entry in entries if entry[1] < position]
            offset, newest = entries[-1][0] + 1 if entries else 0, entries[-1][2] if entries else -1
            position = max(position, 0)
    same("the entries of an index", len(index), len(entries))
    for _ in range(TIMES):
        at = random.choice((*entries, (0, 0, 0)))
        wanted = at[0] + random.randint(-1, 1)
        below = [entry for entry in entries if entry[0] <= wanted]
        same("the entry of an offset", index.floor(wanted), below[-1][1:] if below else (0, -1))
        time_ms = at[2] + random.randint(-1, 1)
        older = [entry for entry in entries if entry[2] < time_ms]
        same("the entry of a time", index.floor_of_time(time_ms), older[-1][1] if older else 0)


def _draw_file(random: Random, total: int, sizes: tuple[int, ...]) -> tuple[bytes, list[Placed]]:
    base, position = random.choice((0, 1 << 40)), 0
    placed, parts = [], []
    while position < total:
        count, time_ms = random.randint(1, 3), random.choice((0, 5, 1 << 40))
        data = _template(random.choice(sizes), count, time_ms)
        left = PIECE - position
        if total > PIECE and 200 < left < LAST_OF_PIECE:
            count, data = 1, _of_length(left + random.choice((-1, 0, 1, 30)), time_ms)
        data = _moved(data, base)
        placed.append(Placed(position, len(data), base, base + count, time_ms))
        parts.append(data)
        base, position = base + count, position + len(data)
    return b"".join(parts), placed


def _compare_headers(random: Random) -> None:
    """Read batches across the pieces in which a file is read; damage one, and cut the last."""
    checks = random.random() < 0.5
    sizes = SIZES if checks else SIZES[:4]
    content, placed = _draw_file(random, PIECE + (PIECE >> 2) if checks else 60_000, sizes)
    disk = SimulatedFileSystem()
    disk.make_directory(HOME)
    put(disk, PATH, content)
    first = random.choice((placed[0], placed[0], *placed[:3]))
    wanted = [one for one in placed if one.position >= first.position]

    def read(end: int) -> list[Placed]:
        found = read_headers(disk, PATH, first.position, end, check_crc=checks)
        return [
            Placed(
                one.position,
                one.length,
                one.header.base_offset,
                one.header.next_offset,
                one.header.max_timestamp_ms,
            )
            for one in found
        ]

    same("the headers of a file", read(len(content)), wanted)
    missing = random.choice((1, random.randrange(1, placed[-1].length)))
    rest = placed[-1].length - missing
    error = refused("a batch without its end", WireError, read, len(content) - missing)
    if rest >= 61:
        named("a batch without its end", error, rest)
    same("the headers up to a batch", read(placed[-1].position), wanted[:-1])
    if checks:
        wrong = random.choice(wanted)
        at = wrong.position + random.choice((30, wrong.length - 1))
        damaged = bytearray(content)
        damaged[at] ^= 1
        put(disk, PATH, bytes(damaged))
        refused("a damaged batch", WireError, read, len(content))


def _compare_segment(random: Random) -> None:
    """Read a segment, and cut it again and again."""
    total = random.choice((9_000, 200_000, 4_300_000 if random.random() < 0.2 else 60_000))
    content, placed = _draw_file(random, total, (1, 400, 3_000))
    disk = SimulatedFileSystem()
    disk.make_directory(HOME)
    segment = Segment(disk, HOME, placed[0].base)
    for one in placed:
        data = content[one.position : one.position + one.length]
        segment.append(data, one.base, one.end, one.time_ms)
    for _ in range(TIMES):
        newest = max((one.time_ms for one in placed), default=-1)
        found = (segment.size, segment.end_offset, segment.newest_ms)
        same("a segment", found, (len(content), placed[-1].end, newest))
        for _ in range(TIMES):
            _compare_read(random, segment, content, placed)
        at = random.choice(placed)
        time_ms = random.choice((0, 1, 5, 6, 1 << 40, (1 << 40) + 1))
        begin = next((one.position for one in segment.headers_of_time(time_ms)), len(content))
        skipped = [
            one.position for one in placed if one.position < begin and one.time_ms >= time_ms
        ]
        same("the batches of a time that a search leaves out", skipped, [])
        if at is placed[0]:
            continue
        segment.truncate_to(at.base)
        placed = [one for one in placed if one.base < at.base]
        content = content[: at.position]
        same("the file after a cut", disk.read(segment.path), content)
    _compare_lost_end(random, disk, segment, placed)
    segment.close()


def _compare_read(random: Random, segment: Segment, content: bytes, placed: list[Placed]) -> None:
    at, last = random.choice(placed), random.choice(placed)
    offset = random.randrange(at.base, at.end)
    end = last.end + random.choice((-1, 0, 0))
    most = random.choice((1, at.length - 1, at.length, at.length + 3_200, 50_000))
    may_exceed = random.random() < 0.5
    length = 0
    for one in placed:
        if one.position < at.position:
            continue
        is_first = one is at and may_exceed
        if one.end > end or (length + one.length > most and not is_first):
            break
        length += one.length
    expected = content[at.position : at.position + length]
    found = segment.read(offset, end, most, may_exceed=may_exceed)
    check(f"{len(found)} bytes from offset {offset}, not {len(expected)}", found == expected)


def _compare_lost_end(
    random: Random, disk: SimulatedFileSystem, segment: Segment, placed: list[Placed]
) -> None:
    """Read a segment whose file has lost its end: whole batches that are there, or an error."""
    kept = random.randrange(len(disk.read(segment.path)))
    put(disk, segment.path, disk.read_slice(segment.path, 0, kept))
    ends = {one.position + one.length for one in placed}
    for _ in range(TIMES):
        at, most = random.choice(placed), random.choice((1, 500, 50_000, 1 << 30))
        if random.random() < 0.5:
            at = max((one for one in placed if one.position <= kept), key=lambda one: one.position)
        may_exceed, end_offset = random.random() < 0.5, placed[-1].end
        found = attempt(WireError, segment.read, at.base, end_offset, most, may_exceed=may_exceed)
        if not isinstance(found, Refusal) and found:
            end = at.position + len(found)
            check(f"{len(found)} bytes of a file that ends amid a batch", end in ends)
            same("the batches before a lost end", found, disk.read(segment.path)[at.position : end])
