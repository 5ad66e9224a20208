"""Judges the facts on one partition by all rules: one sort by offset, then linear passes."""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.logs.reading.facts import UNKNOWN, Facts, Ints, Sends
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules import order, origin, positions, sessions
from kraftproof.checkers.logs.rules.final import final_of, polled_of
from kraftproof.checkers.logs.rules.problems import Problems, merged

NO_SEND: Final = "no send was acknowledged: nothing was checked"
NO_FINAL_READ: Final = (
    "no final read covers the log from its begin to its end: what was acknowledged was not checked"
)
STALE_NS: Final = 10_000_000_000
"""The time after which an acknowledged record that no poll returns is a finding."""


class Judged(NamedTuple):
    """The problems of a partition, and why they may be incomplete.

    Attributes:
        problems: by rule.
        reason: why the partition can't be valid though nothing is wrong; None if all was checked.
    """

    problems: list[Problems]
    reason: str | None


def judge(facts: Facts, values: Values, *, is_loss_declared: bool = False) -> Judged:
    """Return the problems of a partition.

    Args:
        facts: what the operations state.
        values: the numbering of the values.
        is_loss_declared: whether the system declares that the run may lose acknowledged records.
    """
    final, again = final_of(facts)
    polled, sends = polled_of(facts), facts.sends
    known = known_of(sends)
    records, found = origin.appended(known, sends, final)
    previous = sessions.before(facts.reads, facts.polls)
    found += positions.conflicts(known, final, polled, again)
    found += positions.lost(known, final, is_declared=is_loss_declared)
    found += origin.lost_without_offset(sends, final, is_declared=is_loss_declared)
    found += positions.forgotten(polled, final, is_declared=is_loss_declared)
    found += origin.unsent(known, sends, polled)
    found += order.append_order(records, order.Carry())
    found += order.producer_order(records, values, order.Carry())
    found += sessions.read_order(facts.reads, facts.polls, previous)
    found += sessions.skipped(facts.reads, facts.polls, previous, final)
    found += sessions.stale(facts.polls, known, STALE_NS)
    return Judged(
        merged(found), reason_of(is_any_acked=bool(len(known)), is_whole=final.cover.is_whole)
    )


def known_of(sends: Sends) -> Sends:
    """Return the sends with an acknowledged offset, by offset."""
    rows: Ints = np.flatnonzero(sends.offset != UNKNOWN)
    offset = sends.offset[rows]
    if not (offset[1:] >= offset[:-1]).all():
        rows = rows[np.argsort(offset, kind="stable")]
    return sends.take(rows)


def reason_of(*, is_any_acked: bool, is_whole: bool) -> str | None:
    """Return why nothing wrong does not mean valid."""
    if not is_any_acked:
        return NO_SEND
    return None if is_whole else NO_FINAL_READ
