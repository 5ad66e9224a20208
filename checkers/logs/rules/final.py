"""Puts the answers of the final reads of a partition together, and separates the polled records."""

import numpy as np

from kraftproof.checkers.logs.reading.facts import FINAL, POLL, UNKNOWN, Facts, Ints, Polls
from kraftproof.checkers.logs.rules.positions import Cover, Final, Polled


def final_of(facts: Facts) -> tuple[Final, Polled]:
    """Return the final read, and the records that further final reads returned again."""
    reads, polls = facts.reads, facts.polls
    rows = np.flatnonzero(polls.kind[reads.poll] == FINAL) if len(reads) else _NONE
    offset = reads.offset[rows]
    if len(offset) > 1 and not (offset[1:] > offset[:-1]).all():
        rows = rows[np.argsort(offset, kind="stable")]
        offset = reads.offset[rows]
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = offset[1:] != offset[:-1]
    finals = polls.take(polls.kind == FINAL)
    one = rows[is_first]
    final = Final(
        offset=reads.offset[one],
        value=reads.value[one],
        index=polls.index[reads.poll[one]],
        cover=coverage(finals, _last_offsets(facts)),
    )
    return final, _polled(facts, rows[~is_first])


_NONE = np.zeros(0, dtype=np.int64)


def polled_of(facts: Facts) -> Polled:
    """Return the records that polls returned."""
    kinds = facts.polls.kind[facts.reads.poll] if len(facts.reads) else _NONE
    return _polled(facts, np.flatnonzero(kinds == POLL))


def _polled(facts: Facts, rows: Ints) -> Polled:
    poll = facts.reads.poll[rows]
    return Polled(
        offset=facts.reads.offset[rows],
        value=facts.reads.value[rows],
        index=facts.polls.index[poll],
        complete=facts.polls.complete[poll],
    )


def _last_offsets(facts: Facts) -> Ints:
    """Return the last offset that each final read received; UNKNOWN without a record."""
    last = np.full(len(facts.polls), UNKNOWN, dtype=np.int64)
    last[facts.reads.poll] = facts.reads.offset
    found: Ints = last[facts.polls.kind == FINAL]
    return found


def coverage(finals: Polls, last: Ints) -> Cover:
    """Return what the final reads cover.

    Each answer covers the offsets from its position to its last record. An answer without records
    covers the rest of the log: the leader has no record there.

    Args:
        finals: the final reads.
        last: int64[n], the last offset that each of them received; UNKNOWN without a record.
    """
    if not len(finals):
        return Cover(0, UNKNOWN, UNKNOWN, is_whole=False)
    log_start, end = max(0, int(finals.log_start.max())), int(finals.end.max())
    begin = np.where(finals.position == UNKNOWN, finals.log_start, finals.position)
    until = np.where(last == UNKNOWN, np.maximum(begin, finals.end), last + 1)
    covered = log_start
    for place in np.argsort(begin, kind="stable"):
        if begin[place] > covered:
            break
        covered = max(covered, int(until[place]))
    is_whole = end != UNKNOWN and covered >= end
    return Cover(log_start, end, int(finals.invoke.max()), is_whole)
