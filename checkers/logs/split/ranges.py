"""Judges a range of a partition's offsets by the rules of `checkers.logs.judge`, in two passes.

`judge_places` judges what stands at each offset, and returns the leftovers, which no acknowledged
send explains, and what other ranges need. `judge_order` judges the order of appends, once the
leftovers have their sends and the ranges before have their `Carry`; a partition without a problem
of order does not need it (`checkers.logs.split.orders`).
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.logs.judge import STALE_NS
from kraftproof.checkers.logs.reading.facts import UNKNOWN, Ints, Polls, Sends, joined
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules import order, origin, positions, sessions
from kraftproof.checkers.logs.rules.order import Carry
from kraftproof.checkers.logs.rules.origin import Appended
from kraftproof.checkers.logs.rules.positions import Cover, Polled
from kraftproof.checkers.logs.rules.positions import Final as FinalRead
from kraftproof.checkers.logs.rules.problems import SKIPPED, Problems, problems
from kraftproof.checkers.logs.split import pieces as kinds
from kraftproof.checkers.logs.split.orders import RangeFacts, RangeOrder, carry_of, order_of
from kraftproof.checkers.logs.split.pieces import Gaps, Piece, frames_of
from kraftproof.checkers.verdict import FindingKind

PROBLEMS_KEPT: Final = 10
"""Problems of a rule that a range returns; further ones are counted."""


class Bounds(NamedTuple):
    """The facts on a whole partition that its ranges need.

    Attributes:
        cover: what the final reads cover.
        is_declared: whether the system declares the loss of acknowledged records.
    """

    cover: Cover
    is_declared: bool


class Waits(NamedTuple):
    """The earliest acknowledgement and the earliest invocation of the sends of some offsets, ns."""

    complete: int = NEVER
    invoke: int = NEVER

    def and_also(self, other: "Waits") -> "Waits":
        """Return the earliest of both parts."""
        return Waits(min(self.complete, other.complete), min(self.invoke, other.invoke))


class Places(NamedTuple):
    """The result of the first pass over a range.

    Attributes:
        problems: those of single offsets.
        carry: the maxima over the records with an acknowledged send.
        waits: the earliest times of the acknowledged sends.
        left: the final records without an acknowledged send at their offset.
        left_polled: the polled records without one.
        is_any_acked: whether any send of the range has an acknowledged offset.
        order: the facts on the order in the range.
    """

    problems: list[Problems]
    carry: Carry
    waits: Waits
    left: Polled
    left_polled: Polled
    is_any_acked: bool
    order: RangeOrder

    def facts(self) -> RangeFacts:
        """Return what shows whether the partition breaks a rule of order."""
        return RangeFacts(self.order, self.carry.invoke, self.waits.complete, self.left.offset)


class _Range(NamedTuple):
    known: Sends
    final: FinalRead
    again: Polled
    polled: Polled


def _range_of(pieces: list[Piece], bounds: Bounds) -> _Range:
    known = frames_of(pieces, kinds.KNOWN, Sends)
    known = known.take(np.argsort(known.offset, kind="stable"))
    read = frames_of(pieces, kinds.READ, Polled)
    read = read.take(np.lexsort((read.index, read.offset)))
    is_first = np.append(True, read.offset[1:] != read.offset[:-1])[: len(read)]
    one = read.take(is_first)
    final = FinalRead(
        offset=one.offset,
        value=one.value,
        index=one.index,
        cover=bounds.cover,
    )
    return _Range(known, final, read.take(~is_first), frames_of(pieces, kinds.POLLED, Polled))


def judge_places(pieces: list[Piece], bounds: Bounds, values: Values) -> Places:
    """Return the problems at single offsets of a range, and what the second pass needs."""
    known, final, again, polled = _range_of(pieces, bounds)
    is_declared = bounds.is_declared
    found = positions.conflicts(known, final, polled, again)
    found += positions.lost(known, final, is_declared=is_declared)
    found += positions.forgotten(polled, final, is_declared=is_declared)
    found += _skipped(frames_of(pieces, kinds.GAPS, Gaps), final)
    row = origin.row_at_offset(known, polled.offset, polled.value)
    found += origin.unsent(known, known, polled.take(row != UNKNOWN))
    left = np.flatnonzero(origin.row_at_offset(known, final.offset, final.value) == UNKNOWN)
    acked = known.take(known.is_acknowledged)
    never = np.full(len(left), NEVER, dtype=np.int64)
    leftovers = Polled(
        offset=final.offset[left],
        value=final.value[left],
        index=final.index[left],
        complete=never,
    )
    matched, empty = _matched(known, final), frames_of(pieces, kinds.EMPTY, Polls)
    own_order = order_of(matched, leftovers, empty, known, values)
    return Places(
        problems=[one.first(PROBLEMS_KEPT) for one in found],
        carry=carry_of(matched, own_order.spans),
        waits=Waits(
            int(acked.complete_time.min(initial=NEVER)), int(acked.invoke_time.min(initial=NEVER))
        ),
        left=leftovers,
        left_polled=polled.take(row == UNKNOWN),
        is_any_acked=bool(len(known)),
        order=own_order,
    )


def _skipped(gaps: Gaps, final: FinalRead) -> list[Problems]:
    first = np.searchsorted(final.offset, gaps.previous, side="right")
    after = np.searchsorted(final.offset, gaps.offset, side="left")
    rows = np.flatnonzero(after > first)
    return problems(
        SKIPPED,
        FindingKind.SAFETY,
        gaps.offset[rows],
        gaps.value[rows],
        gaps.index[rows],
        final.offset[first[rows]],
    )


def _matched(known: Sends, final: FinalRead) -> Appended:
    """Return the records that stand at the offset of their acknowledged send."""
    row = origin.row_at_offset(known, final.offset, final.value)
    at_offset = np.flatnonzero(row != UNKNOWN)
    sends = known.take(row[at_offset])
    return Appended(
        offset=final.offset[at_offset],
        value=sends.value,
        index=sends.index,
        invoke=sends.invoke,
        complete=sends.complete,
        idempotent=sends.idempotent,
    )


def judge_order(
    pieces: list[Piece],
    bounds: Bounds,
    values: Values,
    resolved: Appended,
    before: Carry,
    after: Waits,
) -> list[Problems]:
    """Return the problems of order in a range.

    Args:
        pieces: those of the range.
        bounds: the facts on the partition.
        values: the numbering of the values.
        resolved: the leftovers of the range with their sends.
        before: the maxima over all lower offsets.
        after: the earliest times of the acknowledged sends at all higher ranges.
    """
    known, final, _, _ = _range_of(pieces, bounds)
    records = joined([_matched(known, final), resolved], Appended)
    records = records.take(np.argsort(records.offset, kind="stable"))
    found = order.append_order(records, before)
    found += order.producer_order(records, values, before)
    empty = frames_of(pieces, kinds.EMPTY, Polls)
    found += sessions.stale(empty, _and_later(known, after), STALE_NS)
    return [one.first(PROBLEMS_KEPT) for one in found]


def _and_later(known: Sends, after: Waits) -> Sends:
    """Return the sends of a range, and one send that stands for those at higher offsets."""
    if after.complete == NEVER:
        return known
    template = {name: np.zeros(1, dtype=np.int64) for name in Sends.__dataclass_fields__}
    later = {
        **template,
        "offset": np.asarray([NEVER - 1]),
        "acks": np.asarray([-1]),
        "complete_time": np.asarray([after.complete]),
        "invoke_time": np.asarray([after.invoke]),
    }
    return joined([known, Sends(**later)], Sends)


def homes(pieces: list[Piece], bounds: Bounds, wanted: Ints) -> tuple[Sends, Ints]:
    """Return the sends of some values in a range, and 1 for each that stands at its offset."""
    known, final, _, _ = _range_of(pieces, bounds)
    found = known.take(np.isin(known.value, wanted))
    return found, (final.at(found.offset) == found.value).astype(np.int64)
