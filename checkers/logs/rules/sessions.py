"""Rules on readers: offsets increase, nothing is left out, and nothing stays unseen for long.

The session of a reader is a process from an assignment to the next. Control batches and records
that compaction removed are no gaps, since the final read lacks them, too.
"""

import numpy as np

from kraftproof.checkers.logs.reading.facts import (
    ASSIGN,
    FINAL,
    NEVER,
    POLL,
    UNANSWERED,
    UNKNOWN,
    Ints,
    Polls,
    Reads,
    Sends,
)
from kraftproof.checkers.logs.rules.positions import Final
from kraftproof.checkers.logs.rules.problems import READ_ORDER, SKIPPED, STALE, Problems, problems
from kraftproof.checkers.verdict import FindingKind

NO_OFFSET = -2
"""Stands for a reader's unknown last offset; the offset before the first record is -1."""


def before(reads: Reads, polls: Polls) -> Ints:
    """Return the offset that the reader of each record had read before; NO_OFFSET if unknown.

    A poll with a stated position continues there. Any other poll continues after the last record
    that the process received since its assignment, and a final read begins with the log. A poll or
    an assignment without an answer leaves the process at an unknown offset.
    """
    previous = np.full(len(reads), NO_OFFSET, dtype=np.int64)
    previous[1:] = reads.offset[:-1]
    is_first = np.ones(len(reads), dtype=np.bool_)
    is_first[1:] = reads.poll[1:] != reads.poll[:-1]
    firsts = np.flatnonzero(is_first)
    if not len(firsts):
        return previous
    position = polls.position[reads.poll[firsts]]
    previous[firsts] = np.where(position == UNKNOWN, NO_OFFSET, position - 1)
    open_polls = reads.poll[firsts[position == UNKNOWN]]
    if len(open_polls):
        previous[firsts[position == UNKNOWN]] = _kept(reads, polls)[open_polls]
    return previous


def _kept(reads: Reads, polls: Polls) -> Ints:
    """Return the last offset that the library of each poll's reader keeps."""
    last_of_poll = np.full(len(polls), UNKNOWN, dtype=np.int64)
    last_of_poll[reads.poll] = reads.offset  # the last assignment of a repeated place stays
    found = np.full(len(polls), NO_OFFSET, dtype=np.int64)
    kept: dict[int, int] = {}
    rows = zip(
        polls.process.tolist(),
        polls.kind.tolist(),
        polls.position.tolist(),
        last_of_poll.tolist(),
        strict=True,
    )
    for place, (process, kind, position, last) in enumerate(rows):
        found[place] = kept.get(process, NO_OFFSET)
        if kind == FINAL:
            found[place] = NO_OFFSET
        elif kind == UNANSWERED:
            kept[process] = NO_OFFSET
        elif kind == ASSIGN:
            kept[process] = NO_OFFSET if position == UNKNOWN else position - 1
        elif last != UNKNOWN:
            kept[process] = last
    return found


def read_order(reads: Reads, polls: Polls, previous: Ints) -> list[Problems]:
    """Return the records that a reader received after a record of the same or a higher offset."""
    rows = np.flatnonzero((reads.offset <= previous) & (previous != NO_OFFSET))
    return problems(
        READ_ORDER,
        FindingKind.SAFETY,
        reads.offset[rows],
        reads.value[rows],
        polls.index[reads.poll[rows]],
        previous[rows],
    )


def skipped(reads: Reads, polls: Polls, previous: Ints, final: Final) -> list[Problems]:
    """Return the records before which a reader left out a record of the final read."""
    rows = np.flatnonzero((reads.offset > previous + 1) & (previous != NO_OFFSET))
    first = np.searchsorted(final.offset, previous[rows], side="right")
    after = np.searchsorted(final.offset, reads.offset[rows], side="left")
    rows, first = rows[after > first], first[after > first]
    return problems(
        SKIPPED,
        FindingKind.SAFETY,
        reads.offset[rows],
        reads.value[rows],
        polls.index[reads.poll[rows]],
        final.offset[first],
    )


def stale(polls: Polls, sends: Sends, bound_ns: int) -> list[Problems]:
    """Return the worst poll without records, if acknowledged records waited beyond the bound.

    The record at or after the position was in the log from its acknowledgement at the latest, and
    from its invocation at the earliest: both bounds of the lag are known. In the problem, `other`
    is the lower bound in ns, and `value` the upper bound.
    """
    empty = polls.take((polls.kind == POLL) & (polls.count == 0) & (polls.position != UNKNOWN))
    empty = empty.take(empty.invoke_time != UNKNOWN)
    if not len(empty):
        return []
    acked = np.flatnonzero(sends.is_acknowledged & (sends.offset != UNKNOWN))
    if not len(acked):
        return []
    acked = acked[np.argsort(sends.offset[acked], kind="stable")]
    offset = sends.offset[acked]
    earliest, begun = (
        np.append(np.minimum.accumulate(column[acked][::-1])[::-1], NEVER)
        for column in (sends.complete_time, sends.invoke_time)
    )
    places = np.searchsorted(offset, empty.position)
    since = earliest[places]
    lag = np.where(since == NEVER, 0, empty.invoke_time - since)
    worst = int(lag.argmax())
    if lag[worst] <= bound_ns:
        return []
    one = np.asarray([worst])
    return problems(
        STALE,
        FindingKind.AVAILABILITY,
        empty.position[one],
        empty.complete_time[one] - begun[places[one]],
        empty.index[one],
        lag[one],
    )
