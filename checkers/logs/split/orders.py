"""Shows from small facts on each range that a partition breaks no rule of order.

A range returns what its order depends on with other ranges and with the sends of its leftovers. If
`is_ordered` sees no problem in these facts, there is none, and no range is read again. Otherwise
`checkers.logs.split.ranges.judge_order` finds the problems in a second pass.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.logs.judge import STALE_NS
from kraftproof.checkers.logs.reading.facts import POLL, UNKNOWN, Bools, Ints, Polls, Sends
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules import order, sessions
from kraftproof.checkers.logs.rules.order import Carry
from kraftproof.checkers.logs.rules.origin import Appended
from kraftproof.checkers.logs.rules.positions import Polled


class Spans(NamedTuple):
    """The numbers of the sends of each producer session, int64[sessions] each.

    Attributes:
        session: the producer session, ascending.
        lowest: the lowest number of a record's send.
        highest: the highest number.
        matched: the highest number of a record with an acknowledged send; UNKNOWN without one.
    """

    session: Ints
    lowest: Ints
    highest: Ints
    matched: Ints


class RangeOrder(NamedTuple):
    """The facts on the order in a range of offsets.

    Attributes:
        is_ordered: whether the range alone breaks no rule of order.
        spans: the producer sessions, also of the leftovers.
        complete: the earliest completion of a record's acknowledged send; NEVER without one.
        before: for each leftover, the latest invocation of the acknowledged sends at lower offsets
            of the range; UNKNOWN without one.
        after: for each leftover, the earliest completion of those at higher offsets.
        polled_at: the time of the last poll without a record; UNKNOWN without one.
    """

    is_ordered: bool
    spans: Spans
    complete: int
    before: Ints
    after: Ints
    polled_at: int


def order_of(
    matched: Appended, left: Polled, empty: Polls, known: Sends, values: Values
) -> RangeOrder:
    """Return the facts on the order in a range.

    Args:
        matched: the records with an acknowledged send at their offset, by offset.
        left: the other records of the final read, by offset.
        empty: the polls without records.
        known: the sends with an acknowledged offset.
        values: the numbering of the values.
    """
    spans, is_in_turn = _spans(matched, left, values)
    latest = np.maximum.accumulate(np.append(UNKNOWN, matched.invoke))
    earliest = np.minimum.accumulate(np.append(matched.complete, NEVER)[::-1])[::-1]
    places = np.searchsorted(matched.offset, left.offset)
    times = empty.invoke_time[(empty.kind == POLL) & (empty.count == 0)]
    is_ordered = (
        is_in_turn
        and not (matched.complete < latest[:-1]).any()
        and not sessions.stale(empty, known, STALE_NS)
    )
    return RangeOrder(
        is_ordered=is_ordered,
        spans=spans,
        complete=int(earliest[0]),
        before=latest[places],
        after=earliest[places],
        polled_at=int(times.max(initial=UNKNOWN)),
    )


def _spans(matched: Appended, left: Polled, values: Values) -> tuple[Spans, bool]:
    """Return the spans of all sessions, and whether each session's sends stand in their order."""
    offset = np.concatenate((matched.offset, left.offset))
    value = np.concatenate((matched.value, left.value))
    is_matched = np.arange(len(offset)) < len(matched)
    if len(left):
        rows = np.argsort(offset, kind="stable")
        value, is_matched = value[rows], is_matched[rows]
    session = values.sessions(value)
    rows = np.argsort(session, kind="stable")
    session, sequence = session[rows], values.sequences(value)[rows]
    is_first = _is_first(session)
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return Spans(session, session, session, session), True
    is_back = (sequence[1:] < sequence[:-1]) & ~is_first[1:]
    return Spans(
        session=session[starts],
        lowest=np.minimum.reduceat(sequence, starts),
        highest=np.maximum.reduceat(sequence, starts),
        matched=np.maximum.reduceat(np.where(is_matched[rows], sequence, UNKNOWN), starts),
    ), not is_back.any()


def _is_first(session: Ints) -> Bools:
    found = np.ones(len(session), dtype=np.bool_)
    found[1:] = session[1:] != session[:-1]
    return found


def carry_of(matched: Appended, spans: Spans) -> Carry:
    """Return the maxima over the records with an acknowledged send."""
    if not len(matched):
        return Carry()
    latest = int(matched.invoke.argmax())
    is_matched = spans.matched != UNKNOWN
    return Carry(
        invoke=int(matched.invoke[latest]),
        index=int(matched.index[latest]),
        sessions=spans.session[is_matched],
        sequences=spans.matched[is_matched],
    )


class RangeFacts(NamedTuple):
    """The facts on a range that `is_ordered` needs.

    Attributes:
        order: the facts on the order.
        invoke: the latest invocation of the acknowledged sends of records.
        acknowledged: the earliest time of an acknowledgement, ns.
        left: the offsets of the leftovers.
    """

    order: RangeOrder
    invoke: int
    acknowledged: int
    left: Ints


def is_ordered(ranges: Mapping[int, RangeFacts], resolved: Appended) -> bool:
    """Return whether a partition surely breaks no rule of order.

    Args:
        ranges: the facts on each range.
        resolved: the leftovers with their sends, by offset.
    """
    parts = [ranges[part] for part in sorted(ranges)]
    if not all(one.order.is_ordered for one in parts):
        return False
    offset = np.concatenate([np.zeros(0, dtype=np.int64), *(one.left for one in parts)])
    if not np.array_equal(offset, resolved.offset):
        return False  # a record without a send was counted among its session's
    return _is_in_turn(parts) and _is_in_time(parts, resolved) and not _is_stale(parts)


def _is_in_turn(parts: list[RangeFacts]) -> bool:
    """Return whether the spans of each producer session follow each other."""
    if not parts:
        return True
    spans = [one.order.spans for one in parts]
    session, lowest, highest = (
        np.concatenate([getattr(one, name) for one in spans])
        for name in ("session", "lowest", "highest")
    )
    rows = np.argsort(session, kind="stable")
    session, lowest, highest = session[rows], lowest[rows], highest[rows]
    is_back = (lowest[1:] < highest[:-1]) & (session[1:] == session[:-1])
    return not is_back.any()


def _is_in_time(parts: list[RangeFacts], resolved: Appended) -> bool:
    """Return whether no send completed before the invocation of a send at a lower offset."""
    if order.append_order(resolved, Carry()):
        return False
    invoke = np.asarray([one.invoke for one in parts], dtype=np.int64)
    complete = np.asarray([one.order.complete for one in parts], dtype=np.int64)
    latest = np.maximum.accumulate(np.append(UNKNOWN, invoke))[:-1]
    earliest = np.minimum.accumulate(np.append(complete, NEVER)[::-1])[::-1]
    if (complete < latest).any():
        return False
    counts = [len(one.left) for one in parts]
    none = np.zeros(0, dtype=np.int64)
    before = np.concatenate([none, *(one.order.before for one in parts)])
    after = np.concatenate([none, *(one.order.after for one in parts)])
    before = np.maximum(before, np.repeat(latest, counts))
    after = np.minimum(after, np.repeat(earliest[1:], counts))
    return not ((resolved.complete < before) | (after < resolved.invoke)).any()


def _is_stale(parts: list[RangeFacts]) -> bool:
    """Return whether a poll may have missed a record of a higher range for too long."""
    since = NEVER
    for one in reversed(parts):
        polled_at = one.order.polled_at
        if polled_at != UNKNOWN and since != NEVER and polled_at - since > STALE_NS:
            return True
        since = min(since, one.acknowledged)
    return False
