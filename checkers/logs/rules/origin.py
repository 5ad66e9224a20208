"""Rules on the origin of records: each was sent, none was refused, none is in the log twice.

Most records stand at the offset of an acknowledged send of the same value. The others, *leftovers*,
are looked up by value among all sends, and mostly are those of indeterminate sends.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.history.columns import FAIL, NEVER, OK
from kraftproof.checkers.logs.reading.facts import (
    ACKS_ALL,
    UNKNOWN,
    Bools,
    Frame,
    Ints,
    Sends,
    joined,
)
from kraftproof.checkers.logs.rules.positions import Final as FinalRead
from kraftproof.checkers.logs.rules.positions import Polled
from kraftproof.checkers.logs.rules.problems import DUPLICATE, LOST, SENT, Problems, problems
from kraftproof.checkers.verdict import FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended(Frame):
    """The records of the final read with their sends, int64[n] each, by offset.

    Attributes:
        offset: the record's offset.
        value: the number of the value.
        index: the operation of the send.
        invoke: the event of the send's invocation.
        complete: the event by which the record was surely appended; NEVER if none is known.
        idempotent: 1 if the producer was idempotent, else 0.
    """

    offset: Ints
    value: Ints
    index: Ints
    invoke: Ints
    complete: Ints
    idempotent: Ints


_HASH_BITS: Final = 20
_HASH_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: Knuth's multiplicative hashing."""


def row_of_value(sends: Sends, values: Ints, *, is_placed: bool) -> Ints:
    """Return the row of a send of each value; UNKNOWN for a value that was never sent.

    Of several sends of a value, the first that did not fail is taken.

    Args:
        sends: the sends.
        values: the values.
        is_placed: whether a send with an acknowledged offset is as good as one without.
    """
    wanted = np.sort(values)  # mostly few: the sends are looked up in these
    rows = np.flatnonzero(is_among(sends.value, wanted))
    if not len(rows):
        return np.full(len(values), UNKNOWN, dtype=np.int64)
    is_worse = 2 * (sends.status[rows] == FAIL)
    if not is_placed:
        is_worse += sends.offset[rows] != UNKNOWN
    order = rows[np.lexsort((is_worse, sends.value[rows]))]
    ordered = sends.value[order]
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[places] == values, order[places], UNKNOWN)


def is_among(values: Ints, others: Ints) -> Bools:
    """Return which values are among other values; the other values ascend.

    Most values are not, if the others are few: a table of hashes rules these out.
    """
    found = np.zeros(len(values), dtype=np.bool_)
    if not len(others):
        return found
    is_hashed = np.zeros(1 << _HASH_BITS, dtype=np.bool_)
    is_hashed[_hashes(others)] = True
    rows = np.flatnonzero(is_hashed[_hashes(values)])
    places = np.minimum(np.searchsorted(others, values[rows]), len(others) - 1)
    found[rows] = others[places] == values[rows]
    return found


def _hashes(values: Ints) -> NDArray[np.uint64]:
    """Return numbers of few bits, equal for equal values."""
    return (values.view(np.uint64) * _HASH_FACTOR) >> np.uint64(64 - _HASH_BITS)


def row_at_offset(known: Sends, offsets: Ints, values: Ints) -> Ints:
    """Return the row of the acknowledged send of each record, which names offset and value.

    Args:
        known: the sends with an acknowledged offset, by offset.
        offsets: the records' offsets.
        values: the records' values.
    """
    if not len(known):
        return np.full(len(offsets), UNKNOWN, dtype=np.int64)
    places = np.minimum(np.searchsorted(known.offset, offsets), len(known) - 1)
    is_same = (known.offset[places] == offsets) & (known.value[places] == values)
    found = np.where(is_same, places, UNKNOWN)
    repeated = known.offset[1:][known.offset[1:] == known.offset[:-1]]
    if len(repeated):
        again = np.flatnonzero(np.isin(known.offset, repeated))
        by_record = {(int(known.offset[row]), int(known.value[row])): row for row in again[::-1]}
        for row in np.flatnonzero(~is_same & np.isin(offsets, repeated)):
            found[row] = by_record.get((int(offsets[row]), int(values[row])), UNKNOWN)
    return found


def appended(known: Sends, sends: Sends, final: FinalRead) -> tuple[Appended, list[Problems]]:
    """Return the final records that have a send, and the problems of the others.

    Args:
        known: the sends with an acknowledged offset, by offset.
        sends: all sends.
        final: the final read.
    """
    row = row_at_offset(known, final.offset, final.value)
    left = np.flatnonzero(row == UNKNOWN)
    sender = row_of_value(sends, final.value[left], is_placed=False)
    is_found = sender != UNKNOWN
    status = np.where(is_found, sends.status[sender], UNKNOWN) if len(sends) else sender
    bad = left[~is_found | (status == FAIL)]
    found = problems(
        SENT,
        FindingKind.SAFETY,
        final.offset[bad],
        final.value[bad],
        final.index[bad],
        _operation(sends, sender[~is_found | (status == FAIL)]),
    )
    good = is_found & (status != FAIL)
    left, sender = left[good], sender[good]
    unplaced = sends.take((sends.status != FAIL) & (sends.offset == UNKNOWN))
    counts = _counts(unplaced.value, final.value[left])
    is_again = _is_again(sends.take(sender), final.offset[left], final, counts)
    found += _duplicates(sends, sender[is_again], final.offset[left[is_again]], final)
    at_offset = np.flatnonzero(row != UNKNOWN)
    matched = _appended(final, at_offset, known, row[at_offset])
    left, sender, counts = left[~is_again], sender[~is_again], counts[~is_again]
    at_home = (sends.offset[sender] == UNKNOWN) | (sends.offset[sender] == final.offset[left])
    is_sure = (sends.status[sender] == OK) & (sends.acks[sender] != 0) & at_home & (counts < 2)
    first = _appended(final, left, sends, sender)
    first.complete[~is_sure] = NEVER
    if len(left):
        matched = joined([matched, first], Appended)
        matched = matched.take(np.argsort(matched.offset, kind="stable"))
    return matched, found


def _appended(final: FinalRead, records: Ints, sends: Sends, rows: Ints) -> Appended:
    """Return some records of the final read with their sends."""
    return Appended(
        offset=final.offset[records],
        value=sends.value[rows],
        index=sends.index[rows],
        invoke=sends.invoke[rows],
        complete=sends.complete[rows],
        idempotent=sends.idempotent[rows],
    )


def _counts(values: Ints, wanted: Ints) -> Ints:
    """Return how often each wanted value is among some values."""
    ordered = np.sort(values[is_among(values, np.unique(wanted))])
    ends = [np.searchsorted(ordered, wanted, side=side) for side in ("left", "right")]
    found: Ints = ends[1] - ends[0]
    return found


def _is_again(sender: Sends, offsets: Ints, final: FinalRead, counts: Ints) -> Bools:
    """Return which leftovers repeat a value that the log has at another, earlier judged offset.

    A value stands where its acknowledgement says, else where the log has the value first: as often
    as there are sends of the value without an offset (`counts`), and once at least.
    """
    is_home = sender.offset == offsets  # another send has been acknowledged at the same offset
    is_there = (sender.offset != UNKNOWN) & (final.at(sender.offset) == sender.value)
    order = np.lexsort((offsets, sender.value))
    values = sender.value[order]
    repeats = np.zeros(len(values), dtype=np.bool_)
    rank = np.arange(len(values)) - np.searchsorted(values, values)
    repeats[order] = rank >= np.maximum(counts[order], 1)
    found: Bools = (is_there | repeats) & ~is_home
    return found


def _duplicates(sends: Sends, rows: Ints, offsets: Ints, final: FinalRead) -> list[Problems]:
    """Return the repeated values; those that a producer without idempotence sent as declared."""
    if not len(rows):
        return []
    sender = sends.take(rows)
    careless = sends.value[(sends.idempotent == 0) & (sends.status != FAIL)]
    is_idempotent = _counts(careless, sender.value) == 0
    order = np.argsort(final.value, kind="stable")
    first = final.offset[order[np.searchsorted(final.value[order], sender.value)]]
    other = np.where(first == offsets, sender.offset, first)
    found = []
    for kind, chosen in (
        (FindingKind.SAFETY, is_idempotent),
        (FindingKind.DECLARED, ~is_idempotent),
    ):
        rows = np.flatnonzero(chosen)
        found += problems(
            DUPLICATE, kind, offsets[rows], sender.value[rows], sender.index[rows], other[rows]
        )
    return found


def lost_without_offset(sends: Sends, final: FinalRead, *, is_declared: bool) -> list[Problems]:
    """Return the successful sends without an offset whose value is nowhere in the log at the end.

    Retention excuses all of them if the log does not begin at offset 0.
    """
    loose = sends.take((sends.status == OK) & (sends.offset == UNKNOWN))
    if not final.cover.is_whole or final.cover.log_start > 0 or not len(loose):
        return []
    is_early = loose.complete < final.cover.asked
    wanted = np.sort(loose.value)
    there = np.sort(final.value[is_among(final.value, wanted)])
    loose = loose.take(is_early & ~is_among(loose.value, there))
    found = []
    is_bound = (loose.acks == ACKS_ALL) & (not is_declared)
    for kind, chosen in ((FindingKind.SAFETY, is_bound), (FindingKind.DECLARED, ~is_bound)):
        rows = loose.take(chosen)
        nothing = np.full(len(rows), UNKNOWN, dtype=np.int64)
        found += problems(LOST, kind, nothing, rows.value, rows.index)
    return found


def unsent(known: Sends, sends: Sends, polled: Polled) -> list[Problems]:
    """Return the polled records that no send can have written by then."""
    row = row_at_offset(known, polled.offset, polled.value)
    matched, left = np.flatnonzero(row != UNKNOWN), np.flatnonzero(row == UNKNOWN)
    is_late = known.invoke[row[matched]] > polled.complete[matched]
    late = matched[is_late]
    sender = row_of_value(sends, polled.value[left], is_placed=True)
    is_wrong = sender == UNKNOWN
    if len(sends):
        is_wrong |= sends.status[sender] == FAIL
        is_wrong |= sends.invoke[sender] > polled.complete[left]
    rows = np.concatenate((late, left[is_wrong]))
    other = np.concatenate((known.index[row[late]], _operation(sends, sender[is_wrong])))
    order = np.argsort(rows)
    rows = rows[order]
    return problems(
        SENT,
        FindingKind.SAFETY,
        polled.offset[rows],
        polled.value[rows],
        polled.index[rows],
        other[order],
    )


def _operation(sends: Sends, rows: Ints) -> Ints:
    if not len(sends):
        return np.full(len(rows), UNKNOWN, dtype=np.int64)
    return np.where(rows == UNKNOWN, UNKNOWN, sends.index[rows])
