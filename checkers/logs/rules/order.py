"""Rules on the order of appends: that of real time, and that of each producer session.

Both rules pass over the records by offset with a running maximum. A maximum is associative, so a
range of offsets needs no more than a `Carry` of the ranges before.
"""

from dataclasses import dataclass, field

import numpy as np

from kraftproof.checkers.logs.reading.facts import UNKNOWN, Ints
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules.origin import Appended
from kraftproof.checkers.logs.rules.problems import ORDER, PRODUCER_ORDER, Problems, problems
from kraftproof.checkers.verdict import FindingKind

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """The maxima over the records at lower offsets.

    Attributes:
        invoke: the latest event of an invocation; UNKNOWN without a record.
        index: the operation of that invocation.
        sessions: int64[s], ascending, the producer sessions.
        sequences: int64[s], the highest number of a send of each session.
    """

    invoke: int = UNKNOWN
    index: int = UNKNOWN
    sessions: Ints = field(default_factory=lambda: _NONE)
    sequences: Ints = field(default_factory=lambda: _NONE)

    def and_then(self, later: "Carry") -> "Carry":
        """Return the maxima over both parts."""
        is_later = later.invoke > self.invoke
        sessions = np.concatenate((self.sessions, later.sessions))
        sequences = np.concatenate((self.sequences, later.sequences))
        order = np.lexsort((sequences, sessions))
        sessions, sequences = sessions[order], sequences[order]
        is_last = np.append(sessions[1:] != sessions[:-1], True)[: len(sessions)]
        return Carry(
            invoke=later.invoke if is_later else self.invoke,
            index=later.index if is_later else self.index,
            sessions=sessions[is_last],
            sequences=sequences[is_last],
        )


def carried(records: Appended, values: Values) -> Carry:
    """Return the maxima over some records."""
    if not len(records.offset):
        return Carry()
    latest = int(records.invoke.argmax())
    session = values.sessions(records.value)
    known = session != UNKNOWN
    sequences = values.sequences(records.value)[known]
    part = Carry(sessions=session[known], sequences=sequences)
    return Carry(invoke=int(records.invoke[latest]), index=int(records.index[latest])).and_then(
        part
    )


def append_order(records: Appended, carry: Carry) -> list[Problems]:
    """Return the records that real time forbids to stand after a lower offset.

    A send that completed before another send began stands at the lower offset (linearizability of
    appends).
    """
    if not len(records.offset):
        return []
    invoke = np.concatenate(([carry.invoke], records.invoke))
    latest = np.maximum.accumulate(invoke)[:-1]
    rows = np.flatnonzero(records.complete < latest)
    if not len(rows):
        return []
    index = np.concatenate(([carry.index], records.index))
    places = np.maximum.accumulate(
        np.where(invoke == np.maximum.accumulate(invoke), np.arange(len(invoke)), 0)
    )[:-1]
    return problems(
        ORDER,
        FindingKind.SAFETY,
        records.offset[rows],
        records.value[rows],
        records.index[rows],
        index[places[rows]],
    )


def producer_order(records: Appended, values: Values, carry: Carry) -> list[Problems]:
    """Return the records that stand after a later send of the same producer session.

    Only an idempotent producer is promised the order; other sessions are reported as declared.
    """
    session = values.sessions(records.value)
    own_rows = np.flatnonzero(session != UNKNOWN)
    if not len(own_rows):
        return []
    session = np.concatenate((carry.sessions, session[own_rows]))
    sequence = np.concatenate((carry.sequences, values.sequences(records.value)[own_rows]))
    is_short = session.max() <= np.iinfo(np.uint16).max  # NumPy sorts these by radix
    order = np.argsort(session.astype(np.uint16) if is_short else session, kind="stable")
    ordered = session[order]
    rank = np.cumsum(np.append(0, ordered[1:] != ordered[:-1])[: len(ordered)])
    both = (rank.astype(np.int64) << 33) + sequence[order]
    highest = np.maximum.accumulate(both)
    is_before = np.flatnonzero(both < highest)
    rows = own_rows[order[is_before] - len(carry.sessions)]
    other = highest[is_before] & ((1 << 33) - 1)
    found = []
    for kind, chosen in (
        (FindingKind.SAFETY, records.idempotent[rows] == 1),
        (FindingKind.DECLARED, records.idempotent[rows] == 0),
    ):
        own = rows[chosen]
        found += problems(
            PRODUCER_ORDER,
            kind,
            records.offset[own],
            records.value[own],
            records.index[own],
            other[chosen],
        )
    return found
