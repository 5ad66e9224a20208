"""Puts the problems of a partition into findings: the first of each rule, with their number."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from kraftproof.checkers.logs.reading.facts import UNKNOWN
from kraftproof.checkers.logs.reading.values import Values
from kraftproof.checkers.logs.rules import problems as rules
from kraftproof.checkers.logs.rules.problems import Problems
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind

FINDINGS_A_RULE: Final = 10
_NS_PER_S: Final = 1e9


class _One(NamedTuple):
    """A problem in words: the partition, the offset, the value, and the meaning of `other`."""

    key: str
    offset: int
    value: str
    other: int
    number: int
    """The number of the value."""
    others_value: str
    """`other` as a value, in words."""


def findings_of(key: str, found: Iterable[Problems], values: Values) -> list[Finding]:
    """Return the findings on a partition: a few of each broken rule, one of each declared rule."""
    made = []
    for group in found:
        most = FINDINGS_A_RULE if group.kind is FindingKind.SAFETY else 1
        total = group.size
        for place, row in enumerate(zip(*map(list, group.first(most)[2:6]), strict=True)):
            is_last = place + 1 == min(most, total)
            more = total - most if is_last and total > most else 0
            made.append(_finding(key, group, tuple(map(int, row)), values, more))
    return made


def _finding(key: str, group: Problems, row: tuple[int, ...], values: Values, more: int) -> Finding:
    offset, value, index, other = row
    is_stale = group.check == rules.STALE
    has_value = group.check in _OTHER_IS_VALUE and other != UNKNOWN
    one = _One(
        key=shortened(key),
        offset=offset,
        value="" if is_stale else shortened(values.text(value)),
        other=other,
        number=value,
        others_value=shortened(values.text(other)) if has_value else "",
    )
    fact, reason = _WORDS[group.check](one)
    if group.kind is FindingKind.DECLARED:
        reason = f"{reason}, which is declared"
    if more:
        reason = f"{reason}; {more:,} more of this kind"
    return Finding(
        check=group.check,
        kind=group.kind,
        sentence=fact,
        key=key,
        operation_index=None if index == UNKNOWN else index,
        fact=fact,
        reason=reason,
        log_offset=None if offset == UNKNOWN else offset,
    )


_OTHER_IS_VALUE: Final = frozenset({rules.ONE_VALUE, rules.LOST, rules.KEPT})


def _operation(one: _One) -> str:
    return f"operation {one.other}"


def _one_value(one: _One) -> tuple[str, str]:
    fact = f"offset {one.offset} of {one.key} holds {one.value}"
    return fact, f"another operation observed {one.others_value} at the same offset"


def _lost(one: _One) -> tuple[str, str]:
    if one.offset == UNKNOWN:
        fact = (
            f"send {one.value} to {one.key} succeeded, and the value is not in the log at the end"
        )
        return fact, "the final read found the value at no offset"
    fact = f"send {one.value} to {one.key} was acknowledged at offset {one.offset} and is lost"
    return fact, f"the final read found {one.others_value or 'no record'} at the offset"


def _duplicate(one: _One) -> tuple[str, str]:
    fact = f"{one.value} is in {one.key} twice, at offsets {one.other} and {one.offset}"
    return fact, "a send appends its value once"


def _sent(one: _One) -> tuple[str, str]:
    fact = f"{one.value} was read at offset {one.offset} of {one.key}"
    if one.other == UNKNOWN:
        return fact, "no operation sent the value"
    return fact, f"its send failed or had not begun ({_operation(one)})"


def _kept(one: _One) -> tuple[str, str]:
    fact = f"a poll returned {one.value} at offset {one.offset} of {one.key}"
    return fact, f"the final read found {one.others_value or 'no record'} at the offset"


def _order(one: _One) -> tuple[str, str]:
    fact = f"{one.value} stands at offset {one.offset} of {one.key}, after a later send"
    return fact, f"{_operation(one)} stands at a lower offset and began after this send completed"


def _producer_order(one: _One) -> tuple[str, str]:
    fact = f"{one.value} stands at offset {one.offset} of {one.key}"
    return fact, f"send {one.other} of the same producer session stands at a lower offset"


def _read_order(one: _One) -> tuple[str, str]:
    fact = f"a reader received offset {one.offset} of {one.key} after offset {one.other}"
    return fact, "the offsets of a reader increase from one assignment to the next"


def _skipped(one: _One) -> tuple[str, str]:
    fact = f"a reader received offset {one.offset} of {one.key} and left out offset {one.other}"
    return fact, "the log holds a record there at the end"


def _stale(one: _One) -> tuple[str, str]:
    low, high = one.other / _NS_PER_S, one.number / _NS_PER_S
    fact = f"a poll of {one.key} at offset {one.offset} returned no record"
    return (
        fact,
        f"an acknowledged record waited there for at least {low:.1f} s, at most {high:.1f} s",
    )


_WORDS: Final[dict[str, Callable[[_One], tuple[str, str]]]] = {
    rules.ONE_VALUE: _one_value,
    rules.LOST: _lost,
    rules.DUPLICATE: _duplicate,
    rules.SENT: _sent,
    rules.KEPT: _kept,
    rules.ORDER: _order,
    rules.PRODUCER_ORDER: _producer_order,
    rules.READ_ORDER: _read_order,
    rules.SKIPPED: _skipped,
    rules.STALE: _stale,
}
