"""Cuts parts of a history into pieces, each of one kind, one partition and one range of offsets.

A piece travels as one binary value, so that a shuffle moves few large values, not many rows.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows, operations_of
from kraftproof.checkers.logs.reading.facts import (
    FINAL,
    POLL,
    UNKNOWN,
    Facts,
    Frame,
    Ints,
    Polls,
    Reads,
    joined,
)
from kraftproof.checkers.logs.reading.unpack import unpacked
from kraftproof.checkers.logs.rules import sessions
from kraftproof.checkers.logs.rules.positions import Polled
from kraftproof.checkers.logs.states import state_findings

RANGE: Final = 1 << 20
"""Offsets of a range: their facts take some 200 MB of a worker's memory."""
OF_KEY: Final = -1
"""Stands for the range of pieces that concern a whole partition."""
_CODEC: Final = pa.Codec("zstd", compression_level=1)
F = TypeVar("F", bound=Frame)


class Piece(NamedTuple):
    """Rows of one kind, of one range of a partition.

    Attributes:
        key: the partition.
        part: the number of the range, or OF_KEY.
        kind: what the rows are.
        data: the columns; see `packed`.
        n: a number whose meaning depends on the kind.
        run: the end of the values' texts after @.
    """

    key: str
    part: int
    kind: str
    data: bytes
    n: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps(Frame):
    """Records that do not follow the reader's record before, int64[n] each.

    Attributes:
        offset: the record's offset.
        value: the number of the value.
        index: the operation of the poll.
        previous: the offset of the reader's record before.
    """

    offset: Ints
    value: Ints
    index: Ints
    previous: Ints


KNOWN: Final = "known"
"""Sends with an offset, of a range."""
LOOSE: Final = "loose"
"""Sends without an offset, of a partition."""
READ: Final = "final"
"""Records of final reads, of a range."""
POLLED: Final = "polled"
"""Records of polls, of a range."""
GAPS: Final = "gaps"
"""Records with a gap before them that lies in a range."""
BACKWARDS: Final = "backwards"
"""Records that do not increase, of a partition."""
EMPTY: Final = "empty"
"""Polls without records at a position in a range."""
COVERS: Final = "covers"
"""Final reads of a partition; `complete` is the last offset that each received."""
STATES: Final = "states"
"""Reports of brokers on a partition's state: rows of operations, as Arrow's bytes."""
COUNT: Final = "count"
"""No rows; `n` is a number of operations of a partition."""
SUCCEEDED: Final = "succeeded"
"""No rows; `n` is a number of successful operations of a partition."""
ODD: Final = "odd"
"""No rows: the partition can't be split."""


def packed(frame: Frame) -> bytes:
    """Return the columns of a frame as bytes: the differences of neighbours, compressed.

    Most columns nearly ascend by equal steps, so that a row takes a few bytes instead of 80.
    """
    columns = [getattr(frame, one.name) for one in fields(frame)]
    steps = np.empty((len(columns), len(frame)), dtype=np.int64)
    for row, column in zip(steps, columns, strict=True):
        row[:1] = column[:1]
        np.subtract(column[1:], column[:-1], out=row[1:])
    compressed: bytes = _CODEC.compress(steps, asbytes=True)
    return steps.nbytes.to_bytes(8, "big") + compressed


def frame_of(kind: type[F], data: bytes) -> F:
    """Return the frame of `packed` bytes."""
    names = [one.name for one in fields(kind)]
    size = int.from_bytes(data[:8], "big")
    steps = np.frombuffer(_CODEC.decompress(data[8:], size), dtype=np.int64)
    table = np.cumsum(steps.reshape(len(names), -1), axis=1)
    return kind(**dict(zip(names, table, strict=True)))


def frames_of(pieces: Iterable[Piece], name: str, kind: type[F]) -> F:
    """Return the rows of a kind in all pieces of a range."""
    return joined([frame_of(kind, one.data) for one in pieces if one.kind == name], kind)


def pieces_of(
    rows: pa.Table, size: int = RANGE, keys: Container[str] | None = None
) -> Iterator[Piece]:
    """Yield the pieces of some operations, whatever their order and their partitions.

    A partition yields a piece of the kind ODD if its texts are of an unusual layout, if its
    readers keep their own positions, or if an operation has another form.

    Args:
        rows: the operations.
        size: the offsets of a range.
        keys: the wanted partitions; None for all.
    """
    for key, own in _by_key(rows):
        if keys is None or key in keys:
            yield from _of_key(key, own, size)


def _by_key(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield the operations of each partition, by one sort for all partitions."""
    coded = rows.column("key").combine_chunks().dictionary_encode()
    keys, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy()
    if len(keys) < 2:
        yield from ((key, rows) for key in keys)
        return
    order = np.argsort(codes, kind="stable")
    grouped = rows.take(pa.array(order)).combine_chunks()
    ends = np.searchsorted(codes[order], np.arange(len(keys)), side="right").tolist()
    for key, begin, end in zip(keys, [0, *ends[:-1]], ends, strict=True):
        yield key, grouped.slice(begin, end - begin)


def _of_key(key: str, own: pa.Table, size: int) -> Iterator[Piece]:
    yield Piece(key, OF_KEY, COUNT, b"", len(own))
    states = own.filter(pc.equal(own.column("f"), "state"))
    try:
        facts, values = unpacked(own, is_compiled=True)
        state_findings(key, iterate_rows(states))
    except ValueError:  # who judges the whole partition reports it
        yield Piece(key, OF_KEY, ODD, b"")
        return
    has_values = len(facts.sends) or len(facts.reads)
    if (has_values and values.run is None) or _keeps_positions(facts.polls):
        yield Piece(key, OF_KEY, ODD, b"")
        return
    if len(states):
        yield Piece(key, OF_KEY, STATES, packed_rows(states), len(states))
    succeeded = pc.sum(pc.equal(own.column("status"), "ok")).as_py()
    yield Piece(key, OF_KEY, SUCCEEDED, b"", int(succeeded or 0))
    yield from _Cutter(key, values.run or "", size).cut(facts)


def packed_rows(rows: pa.Table) -> bytes:
    """Return operations as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    held: bytes = sink.getvalue().to_pybytes()
    return held


def rows_of(pieces: Iterable[Piece]) -> list[Operation]:
    """Return the operations of the pieces of the kind STATES, by invocation."""
    parts = [pa.ipc.open_stream(one.data).read_all() for one in pieces if one.kind == STATES]
    return operations_of(pa.concat_tables(parts)) if parts else []


def _keeps_positions(polls: Polls) -> bool:
    return bool(((polls.kind == POLL) & (polls.position == UNKNOWN)).any())


def _covers(facts: Facts) -> Polls:
    last = np.full(len(facts.polls), UNKNOWN, dtype=np.int64)
    last[facts.reads.poll] = facts.reads.offset
    columns = {one.name: getattr(facts.polls, one.name) for one in fields(Polls)}
    return Polls(**{**columns, "complete": last}).take(facts.polls.kind == FINAL)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts the facts on one partition; values end in `run`, and ranges have `size` offsets."""

    key: str
    run: str
    size: int

    def cut(self, facts: Facts) -> Iterator[Piece]:
        sends, reads, polls = facts.sends, facts.reads, facts.polls
        known = sends.take(sends.offset != UNKNOWN)
        yield from self._by_range(KNOWN, known, known.offset)
        yield from self._whole(LOOSE, sends.take(sends.offset == UNKNOWN))
        kinds = polls.kind[reads.poll]
        records = Polled(
            offset=reads.offset,
            value=reads.value,
            index=polls.index[reads.poll],
            complete=polls.complete[reads.poll],
        )
        for name, kind in ((READ, FINAL), (POLLED, POLL)):
            chosen = records.take(kinds == kind)
            yield from self._by_range(name, chosen, chosen.offset)
        yield from self._gaps(reads, polls)
        empty = polls.take((polls.kind == POLL) & (polls.count == 0))
        yield from self._by_range(EMPTY, empty, empty.position)
        yield from self._whole(COVERS, _covers(facts))

    def _gaps(self, reads: Reads, polls: Polls) -> Iterator[Piece]:
        previous = sessions.before(reads, polls)
        gaps = Gaps(
            offset=reads.offset, value=reads.value, index=polls.index[reads.poll], previous=previous
        )
        is_known = previous != sessions.NO_OFFSET
        yield from self._whole(BACKWARDS, gaps.take(is_known & (reads.offset <= previous)))
        wide = gaps.take(is_known & (reads.offset > previous + 1))
        first, last = (wide.previous + 1) // self.size, (wide.offset - 1) // self.size
        counts = last - first + 1
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        part = np.repeat(first, counts) + np.arange(int(counts.sum())) - begins
        rows = np.repeat(np.arange(len(wide)), counts)
        yield from self._by_range(GAPS, wide.take(rows), part * self.size)

    def _whole(self, kind: str, frame: Frame) -> Iterator[Piece]:
        if len(frame):
            yield Piece(self.key, OF_KEY, kind, packed(frame), len(frame), self.run)

    def _by_range(self, kind: str, frame: Frame, offset: Ints) -> Iterator[Piece]:
        if not len(frame):
            return
        parts = offset // self.size
        is_one = parts.min() == parts.max()  # as most often: a range has many offsets
        for part in parts[:1].tolist() if is_one else np.unique(parts).tolist():
            rows = frame if is_one else frame.take(parts == part)
            yield Piece(self.key, part, kind, packed(rows), len(rows), self.run)
