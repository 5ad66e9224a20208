"""Puts the ranges of a partition together: looks up leftovers by value, and scans what is carried.

All of this is small: leftovers are the records of indeterminate sends, and a range carries a few
numbers for each producer session.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from kraftproof.checkers.history.columns import FAIL
from kraftproof.checkers.logs.reading.facts import Ints, Polls, Sends, joined
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules import origin
from kraftproof.checkers.logs.rules.final import coverage
from kraftproof.checkers.logs.rules.order import Carry, carried
from kraftproof.checkers.logs.rules.origin import Appended
from kraftproof.checkers.logs.rules.positions import Final, Polled
from kraftproof.checkers.logs.rules.problems import READ_ORDER, Problems, problems
from kraftproof.checkers.logs.split.pieces import Gaps
from kraftproof.checkers.logs.split.ranges import Bounds, Places, Waits
from kraftproof.checkers.verdict import FindingKind


def bounds_of(covers: Polls, *, is_declared: bool) -> Bounds:
    """Return the bounds of a partition, from its final reads."""
    return Bounds(coverage(covers, covers.complete), is_declared)


def unexplained(left: Iterable[Polled], loose: Sends) -> Ints:
    """Return the values of the leftovers that no send without an offset explains."""
    values = joined(list(left), Polled).value
    explained = loose.value[loose.status != FAIL]
    return np.unique(values[~np.isin(values, explained)])


def resolve(
    left: Polled,
    left_polled: Polled,
    loose: Sends,
    elsewhere: Sends,
    is_home: Ints,
    bounds: Bounds,
) -> tuple[Appended, list[Problems]]:
    """Return the leftovers with their sends, and the problems of the others.

    Args:
        left: the final records without an acknowledged send at their offset.
        left_polled: the polled records without one.
        loose: the sends without an offset.
        elsewhere: the acknowledged sends of the same values, at other offsets.
        is_home: 1 for each of these sends whose value stands at its offset.
        bounds: the facts on the partition.
    """
    home = elsewhere.take(is_home == 1)
    home = home.take(np.argsort(home.offset, kind="stable"))
    offset = np.concatenate((left.offset, home.offset))
    rows = np.argsort(offset, kind="stable")
    final = Final(
        offset=offset[rows],
        value=np.concatenate((left.value, home.value))[rows],
        index=np.concatenate((left.index, home.index))[rows],
        cover=bounds.cover,
    )
    sends = joined([loose, elsewhere], Sends)
    sends = sends.take(np.argsort(sends.index, kind="stable"))
    records, found = origin.appended(home, sends, final)
    found += origin.lost_without_offset(loose, final, is_declared=bounds.is_declared)
    found += origin.unsent(home, sends, left_polled)
    return records.take(~np.isin(records.offset, home.offset)), found


def backwards(gaps: Gaps) -> list[Problems]:
    """Return the records that a reader received after a record of a higher offset."""
    return problems(
        READ_ORDER, FindingKind.SAFETY, gaps.offset, gaps.value, gaps.index, gaps.previous
    )


class Context(NamedTuple):
    """What a range needs of the other ranges."""

    resolved: Appended
    before: Carry
    after: Waits


def contexts(
    places: Mapping[int, Places], resolved: Appended, values: Values, size: int
) -> dict[int, Context]:
    """Return the context of each range: prefix maxima and suffix minima over the ranges.

    Args:
        places: the results of the first pass, by range.
        resolved: the leftovers of all ranges with their sends.
        values: the numbering of the values.
        size: the offsets of a range.
    """
    parts = sorted(places)
    own = {part: resolved.take(resolved.offset // size == part) for part in parts}
    before, carry = {}, Carry()
    for part in parts:
        before[part] = carry
        carry = carry.and_then(places[part].carry).and_then(carried(own[part], values))
    after, waits = {}, Waits()
    for part in reversed(parts):
        after[part] = waits
        waits = waits.and_also(places[part].waits)
    return {part: Context(own[part], before[part], after[part]) for part in parts}
