"""The problems that the rules find, as columns, before they become findings in words."""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.logs.facts import UNKNOWN, Ints
from kraftproof.checkers.verdict import FindingKind

ONE_VALUE: Final = "log/one-value"
LOST: Final = "log/lost"
DUPLICATE: Final = "log/duplicate"
SENT: Final = "log/sent"
KEPT: Final = "log/kept"
ORDER: Final = "log/append-order"
PRODUCER_ORDER: Final = "log/producer-order"
READ_ORDER: Final = "log/order"
SKIPPED: Final = "log/skipped"
STALE: Final = "log/stale"

CHECKS: Final = (
    ONE_VALUE,
    LOST,
    DUPLICATE,
    SENT,
    KEPT,
    ORDER,
    PRODUCER_ORDER,
    READ_ORDER,
    SKIPPED,
    STALE,
)


class Problems(NamedTuple):
    """Problems of one rule, int64[n] each.

    Attributes:
        check: the rule.
        kind: whether the problems break a promise, or are declared.
        offset: the offset in the partition; UNKNOWN without one.
        value: the number of the value.
        operation: the operation that the finding names; UNKNOWN without one.
        other: the other operation, offset, value or duration that the rule compares with.
    """

    check: str
    kind: FindingKind
    offset: Ints
    value: Ints
    operation: Ints
    other: Ints

    def first(self, most: int) -> "Problems":
        """Return the first problems by offset."""
        rows = np.argsort(self.offset, kind="stable")[:most]
        columns = (column[rows] for column in self[2:])
        return Problems(self.check, self.kind, *columns)


def problems(
    check: str,
    kind: FindingKind,
    offset: Ints,
    value: Ints,
    index: Ints,
    other: Ints | None = None,
) -> list[Problems]:
    """Return the problems in a list, which is empty if there are none."""
    if not len(offset):
        return []
    others = np.full(len(offset), UNKNOWN, dtype=np.int64) if other is None else other
    return [Problems(check, kind, offset, value, index, others)]
