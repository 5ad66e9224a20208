"""The problems that the rules find, as columns, before they become findings in words."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.logs.reading.facts import UNKNOWN, Ints
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
        total: the number of problems, if only the first ones are here.
    """

    check: str
    kind: FindingKind
    offset: Ints
    value: Ints
    operation: Ints
    other: Ints
    total: int = 0

    def first(self, most: int) -> "Problems":
        """Return the first problems by offset."""
        rows = np.lexsort((self.operation, self.offset))[:most]
        return Problems(
            check=self.check,
            kind=self.kind,
            offset=self.offset[rows],
            value=self.value[rows],
            operation=self.operation[rows],
            other=self.other[rows],
            total=self.size,
        )

    @property
    def size(self) -> int:
        """Return the number of problems, also of those whose rows are left out."""
        return max(self.total, len(self.offset))


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


def merged(found: Iterable[Problems]) -> list[Problems]:
    """Return the problems of all ranges, one group for each rule and kind.

    A gap that lies in several ranges is one problem.
    """
    groups: dict[tuple[str, FindingKind], list[Problems]] = {}
    for one in found:
        groups.setdefault((one.check, one.kind), []).append(one)
    return [_one_group(parts) for parts in groups.values()]


def _one_group(parts: list[Problems]) -> Problems:
    offset, value, operation, other = (
        np.concatenate([part[place] for part in parts]) for place in range(2, 6)
    )
    total = sum(part.size for part in parts)
    if parts[0].check == SKIPPED:
        order = np.lexsort((other, value, operation, offset))
        ordered = np.stack((offset, operation, value))[:, order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        rows = order[is_first]
        total -= len(order) - len(rows)
        offset, value, operation, other = (
            column[rows] for column in (offset, value, operation, other)
        )
    return Problems(parts[0].check, parts[0].kind, offset, value, operation, other, total)
