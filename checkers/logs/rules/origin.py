"""Rules on the origin of records: each was sent, none was refused, none is in the log twice.

Most records stand at the offset of an acknowledged send of the same value. The others, *leftovers*,
are looked up by value among all sends, and mostly are those of indeterminate sends.
"""

from dataclasses import dataclass

import numpy as np

from kraftproof.checkers.history.columns import FAIL, NEVER, OK
from kraftproof.checkers.logs.reading.facts import ACKS_ALL, UNKNOWN, Bools, Frame, Ints, Sends
from kraftproof.checkers.logs.rules.positions import Final, Polled
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


def row_of_value(sends: Sends, values: Ints) -> Ints:
    """Return the row of the first send of each value; UNKNOWN for a value that was never sent."""
    if not len(sends):
        return np.full(len(values), UNKNOWN, dtype=np.int64)
    order = np.argsort(sends.value, kind="stable")
    ordered = sends.value[order]
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[places] == values, order[places], UNKNOWN)


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


def appended(known: Sends, sends: Sends, final: Final) -> tuple[Appended, list[Problems]]:
    """Return the final records that have a send, and the problems of the others.

    Args:
        known: the sends with an acknowledged offset, by offset.
        sends: all sends.
        final: the final read.
    """
    row = row_at_offset(known, final.offset, final.value)
    left = np.flatnonzero(row == UNKNOWN)
    sender = row_of_value(sends, final.value[left])
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
    is_again = _is_again(sends.take(sender), final.offset[left], final)
    found += _duplicates(sends.take(sender[is_again]), final.offset[left[is_again]], final)
    at_offset = np.flatnonzero(row != UNKNOWN)
    first = sends.take(sender[~is_again])
    matched = known.take(row[at_offset])
    at_home = (first.offset == UNKNOWN) | (first.offset == final.offset[left[~is_again]])
    sure = (first.status == OK) & (first.acks != 0) & at_home
    offset = np.concatenate((final.offset[at_offset], final.offset[left[~is_again]]))
    order = np.argsort(offset, kind="stable")
    columns = {
        "offset": offset,
        "value": np.concatenate((matched.value, first.value)),
        "index": np.concatenate((matched.index, first.index)),
        "invoke": np.concatenate((matched.invoke, first.invoke)),
        "complete": np.concatenate((matched.complete, np.where(sure, first.complete, NEVER))),
        "idempotent": np.concatenate((matched.idempotent, first.idempotent)),
    }
    return Appended(**{name: column[order] for name, column in columns.items()}), found


def _is_again(sender: Sends, offsets: Ints, final: Final) -> Bools:
    """Return which leftovers repeat a value that the log has at another, earlier judged offset.

    A value stands where its acknowledgement says, else where the log has the value first.
    """
    is_home = sender.offset == offsets  # another send has been acknowledged at the same offset
    is_there = (sender.offset != UNKNOWN) & (final.at(sender.offset) == sender.value)
    order = np.lexsort((offsets, sender.value))
    values = sender.value[order]
    repeats = np.zeros(len(values), dtype=np.bool_)
    repeats[order[1:]] = values[1:] == values[:-1]
    found: Bools = (is_there | repeats) & ~is_home
    return found


def _duplicates(sender: Sends, offsets: Ints, final: Final) -> list[Problems]:
    order = np.argsort(final.value, kind="stable")
    places = np.searchsorted(final.value[order], sender.value)
    first = final.offset[order[places]] if len(places) else places
    other = np.where(first == offsets, sender.offset, first)
    found = []
    for kind, chosen in (
        (FindingKind.SAFETY, sender.idempotent == 1),
        (FindingKind.DECLARED, sender.idempotent == 0),
    ):
        rows = np.flatnonzero(chosen)
        found += problems(
            DUPLICATE, kind, offsets[rows], sender.value[rows], sender.index[rows], other[rows]
        )
    return found


def lost_without_offset(sends: Sends, final: Final, *, is_declared: bool) -> list[Problems]:
    """Return the successful sends without an offset whose value is nowhere in the log at the end.

    Retention excuses all of them if the log does not begin at offset 0.
    """
    loose = sends.take((sends.status == OK) & (sends.offset == UNKNOWN))
    if not final.cover.is_whole or final.cover.log_start > 0 or not len(loose):
        return []
    is_early = loose.complete < final.cover.asked
    loose = loose.take(is_early & ~np.isin(loose.value, final.value))
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
    invoke = np.where(row == UNKNOWN, UNKNOWN, known.invoke[row] if len(known) else UNKNOWN)
    other = np.where(row == UNKNOWN, UNKNOWN, known.index[row] if len(known) else UNKNOWN)
    left = np.flatnonzero(row == UNKNOWN)
    sender = row_of_value(sends, polled.value[left])
    is_refused = np.zeros(len(polled.offset), dtype=np.bool_)
    is_refused[left] = sender == UNKNOWN
    if len(sends):
        is_refused[left] |= sends.status[sender] == FAIL
        invoke[left] = sends.invoke[sender]
        other[left] = np.where(sender == UNKNOWN, UNKNOWN, sends.index[sender])
    rows = np.flatnonzero(is_refused | (invoke > polled.complete))
    return problems(
        SENT,
        FindingKind.SAFETY,
        polled.offset[rows],
        polled.value[rows],
        polled.index[rows],
        other[rows],
    )


def _operation(sends: Sends, rows: Ints) -> Ints:
    if not len(sends):
        return np.full(len(rows), UNKNOWN, dtype=np.int64)
    return np.where(rows == UNKNOWN, UNKNOWN, sends.index[rows])
