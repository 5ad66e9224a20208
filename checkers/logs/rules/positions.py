"""Rules on what stands at an offset: one value, no acknowledged loss, and what was read is kept.

The final read is the truth about a partition: no rule infers or searches. All inputs may be one
range of the partition's offsets, since each rule compares records at equal offsets.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kraftproof.checkers.logs.reading.facts import ACKS_ALL, UNKNOWN, Bools, Frame, Ints, Sends
from kraftproof.checkers.logs.rules.problems import KEPT, LOST, ONE_VALUE, Problems, problems
from kraftproof.checkers.verdict import FindingKind


class Cover(NamedTuple):
    """What the final reads of a partition cover.

    Attributes:
        log_start: the first offset of the log; records below are deleted by retention.
        end: the high watermark that the final reads reported; UNKNOWN without a final read.
        asked: the event at which the last of them was invoked; UNKNOWN without a final read.
        is_whole: whether the reads cover the log up to its end.
    """

    log_start: int
    end: int
    asked: int
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The final read of a partition, or of a range of its offsets.

    Attributes:
        offset: int64[n], ascending, each offset once.
        value: int64[n].
        index: int64[n], the operation that read the record.
        cover: what the reads cover.
    """

    offset: Ints
    value: Ints
    index: Ints
    cover: Cover

    def at(self, offsets: Ints) -> Ints:
        """Return the value at each offset; UNKNOWN where the final read found no record."""
        if not len(self.offset):
            return np.full(len(offsets), UNKNOWN, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.offset, offsets), len(self.offset) - 1)
        return np.where(self.offset[places] == offsets, self.value[places], UNKNOWN)

    def has_to_hold(self, offset: Ints, complete: Ints) -> Bools:
        """Return whether a record known at an event is in the log at the end, by the promise.

        A record that was acknowledged or read after the last final read was invoked may stand
        beyond the end that the final reads saw.
        """
        is_early: Bools = (offset < self.cover.end) | (complete < self.cover.asked)
        return is_early & (offset >= self.cover.log_start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled(Frame):
    """The records that polls or final reads returned, int64[n] each.

    Attributes:
        offset: the record's offset.
        value: the number of the value.
        index: the operation of the poll.
        complete: the event of the poll's completion.
    """

    offset: Ints
    value: Ints
    index: Ints
    complete: Ints


def conflicts(known: Sends, final: Final, polled: Polled, again: Polled) -> list[Problems]:
    """Return the offsets at which two values were observed, each offset once.

    Args:
        known: the sends with an acknowledged offset.
        final: the final read.
        polled: the records of polls.
        again: the records of further final reads.
    """
    acked = np.flatnonzero(known.acks == ACKS_ALL)
    sources = (
        (final.offset, final.value, final.index),
        (known.offset[acked], known.value[acked], known.index[acked]),
        (polled.offset, polled.value, polled.index),
        (again.offset, again.value, again.index),
    )
    odd = _odd_offsets(sources)
    if not len(odd):
        return []
    offset, value, index = (np.concatenate(columns) for columns in zip(*sources, strict=True))
    kept = np.isin(offset, odd)
    offset, value, index = offset[kept], value[kept], index[kept]
    order = np.lexsort((index, offset))
    offset, value, index = offset[order], value[order], index[order]
    _, starts = np.unique(offset, return_index=True)
    firsts = np.repeat(value[starts], np.diff([*starts, len(offset)]))
    differing = np.flatnonzero(value != firsts)
    _, one = np.unique(offset[differing], return_index=True)
    rows = differing[one]
    return problems(
        ONE_VALUE, FindingKind.SAFETY, offset[rows], value[rows], index[rows], firsts[rows]
    )


def _odd_offsets(sources: tuple[tuple[Ints, Ints, Ints], ...]) -> Ints:
    """Return the offsets at which some source has another value than a source before it."""
    known_offset, known_value, _ = sources[0]
    odd = []
    for given_offset, given_value, _ in sources[1:]:
        if not len(given_offset):
            continue
        order = np.argsort(given_offset, kind="stable")
        offset, value = given_offset[order], given_value[order]
        same = offset[1:] == offset[:-1]
        odd.append(offset[1:][same & (value[1:] != value[:-1])])
        places = np.searchsorted(known_offset, offset)
        inside = places < len(known_offset)
        found = np.zeros(len(offset), dtype=np.bool_)
        found[inside] = known_offset[places[inside]] == offset[inside]
        differs = found.copy()
        differs[found] = known_value[places[found]] != value[found]
        odd.append(offset[differs])
        fresh = ~found & ~np.concatenate(([False], same))
        if fresh.any():
            merged = np.concatenate((known_offset, offset[fresh]))
            order = np.argsort(merged, kind="stable")
            known_value = np.concatenate((known_value, value[fresh]))[order]
            known_offset = merged[order]
    return np.unique(np.concatenate(odd)) if odd else np.zeros(0, dtype=np.int64)


def lost(known: Sends, final: Final, *, is_declared: bool) -> list[Problems]:
    """Return the acknowledged sends whose value is not in the log at the end.

    A send with acks=0 or 1 is reported apart, as declared: its acknowledgement promises less.

    Args:
        known: the sends with an acknowledged offset.
        final: the final read.
        is_declared: whether the system declares the loss of acknowledged records for the run.
    """
    if not final.cover.is_whole:
        return []
    held = final.at(known.offset)
    gone = (held != known.value) & final.has_to_hold(known.offset, known.complete)
    found = []
    for kind, chosen in (
        (FindingKind.SAFETY, gone & (known.acks == ACKS_ALL) & (not is_declared)),
        (FindingKind.DECLARED, gone & ((known.acks != ACKS_ALL) | is_declared)),
    ):
        rows = np.flatnonzero(chosen)
        found += problems(
            LOST, kind, known.offset[rows], known.value[rows], known.index[rows], held[rows]
        )
    return found


def forgotten(polled: Polled, final: Final, *, is_declared: bool) -> list[Problems]:
    """Return the polled records that are not in the log at the end, each record once."""
    if not final.cover.is_whole:
        return []
    held = final.at(polled.offset)
    has_to_be_held = final.has_to_hold(polled.offset, polled.complete)
    rows = np.flatnonzero((held != polled.value) & has_to_be_held)
    if not len(rows):
        return []
    order = rows[np.lexsort((polled.index[rows], polled.value[rows], polled.offset[rows]))]
    offset, value = polled.offset[order], polled.value[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (offset[1:] != offset[:-1]) | (value[1:] != value[:-1])
    firsts = order[is_first]
    kind = FindingKind.DECLARED if is_declared else FindingKind.SAFETY
    return problems(
        KEPT,
        kind,
        polled.offset[firsts],
        polled.value[firsts],
        polled.index[firsts],
        held[firsts],
    )
