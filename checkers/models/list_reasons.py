"""Explains why a transaction cannot have read its lists, with the other transactions of a cycle.

A cycle is a sequence of transactions in which each precedes the next and the last precedes the
first: because one read an append of the other, because one missed an append of the other, or in
real time. See `checkers.models.list_append` for the model, which decides; every sentence here is
certain.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from kraftproof.checkers.calls.lists.lists import OWN_LIST, actions_of
from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.reasons import end_of, may_count
from kraftproof.checkers.models.starting import plain_name
from kraftproof.checkers.text import shortened

_MOST_COMPARED: Final = 200_000
"""Pairs of transactions, at most, that are compared to find a cycle."""

Element = tuple[str, str]
"""The list and the element, as JSON."""


def list_reason(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why an operation cannot have had its answer; None without an obvious reason."""
    if wrong.status != "ok":
        return None
    done = [_Transaction(one) for one in operations if one.status != "fail"]
    able = [one for one in done if one.operation is wrong or may_count(one.operation, wrong)]
    among = _Among(able, Counter(element for one in done for element in one.appends))
    mine = next(one for one in among.transactions if one.operation is wrong)
    return (
        _contradicts_itself(mine)
        or among.not_appended(mine, operations)
        or among.in_pieces(mine)
        or among.in_other_order(mine)
        or among.cycle(mine)
    )


@dataclass(frozen=True, eq=False)
class _Transaction:
    """An operation with its appends and reads."""

    operation: Operation
    actions: list[tuple[bool, str, tuple[str, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        one = self.operation
        observed = actions_of(one.f, one.input, one.output, is_answered=one.status == "ok")
        for is_read, name, value in observed:
            elements = value if isinstance(value, tuple) else (str(value),)
            self.actions.append((is_read, name, elements))

    @cached_property
    def appends(self) -> list[Element]:
        return [(name, one[0]) for is_read, name, one in self.actions if not is_read]

    @cached_property
    def reads(self) -> dict[str, tuple[str, ...]]:
        """The first read of each list."""
        found: dict[str, tuple[str, ...]] = {}
        for is_read, name, elements in self.actions:
            if is_read:
                found.setdefault(name, elements)
        return found

    @cached_property
    def seen(self) -> frozenset[Element]:
        return frozenset((name, one) for name, elements in self.reads.items() for one in elements)

    @property
    def named(self) -> str:
        return f"{_kind(self.operation)} {self.operation.index}"


def _kind(operation: Operation) -> str:
    return "transaction" if operation.f == "txn" else "operation"


def _contradicts_itself(mine: _Transaction) -> str | None:
    """Return a read that contradicts an earlier read or append of the same transaction."""
    known: dict[str, tuple[str, ...]] = {}
    own: dict[str, tuple[str, ...]] = {}
    for is_read, name, elements in mine.actions:
        if not is_read:
            own[name] = own.get(name, ()) + elements
            continue
        appended = own.get(name, ())
        if name in known and elements != known[name] + appended:
            then = f", to which it appended {_texts(appended)}" if appended else ""
            before = f"{_texts(known[name])} in the same transaction before{then}"
            return f"it read {_texts(elements)}{_of(name)}, and {before}"
        if appended and elements[-len(appended) :] != appended:
            last = f"does not end with its own append of {_texts(appended)}"
            return f"it read {_texts(elements)}{_of(name)}, which {last}"
        known[name], own[name] = elements, ()
    return None


@dataclass(frozen=True, eq=False)
class _Among:
    """The transactions that may have taken effect before the wrong transaction completed.

    Attributes: transactions: the candidate transactions and the wrong transaction.
        written: how often each element was appended in all of the history.
    """

    transactions: Sequence[_Transaction]
    written: Counter[Element]

    @cached_property
    def appended(self) -> Counter[Element]:
        return Counter(element for one in self.transactions for element in one.appends)

    @cached_property
    def seen(self) -> frozenset[Element]:
        return frozenset(element for one in self.transactions for element in one.seen)

    def not_appended(self, mine: _Transaction, operations: Sequence[Operation]) -> str | None:
        """Return the element that was never appended, or not as often as read."""
        for name, elements in mine.reads.items():
            for element, times in Counter(elements).items():
                able = self.appended[name, element]
                what = f"it read {_texts(elements)}{_of(name)}"
                if not able:
                    return f"{what}, but {_never(operations, (name, element))}"
                if able < times:
                    often = "once" if able == 1 else f"{able} times"
                    value = shortened(element)
                    many = f"with {times} times {value}"
                    return f"{what}, {many}, but {value} was appended only {often}"
        return None

    def in_pieces(self, mine: _Transaction) -> str | None:
        """Return which transaction was read in part: an intermediate read."""
        for other in self.transactions:
            if other is mine:
                continue
            for name, elements in mine.reads.items():
                own = [one for one in other.appends if one[0] == name]
                alone = [one for one in own if self.written[one] == 1]
                there = [one for one in alone if one[1] in elements]
                missing = [one for one in own if one[1] not in elements]
                if there and missing:
                    some = f"{shortened(there[0][1])} but not {shortened(missing[0][1])}"
                    what = f"it read {_texts(elements)}{_of(name)}, with {some}"
                    return f"{what}, both of which {other.named} appended"
        return None

    def in_other_order(self, mine: _Transaction) -> str | None:
        """Return a read such that neither it nor the wrong read is a prefix of the other."""
        for other in self.transactions:
            for name in mine.reads.keys() & other.reads.keys():
                one, two = mine.reads[name], other.reads[name]
                shared = min(len(one), len(two))
                if one[:shared] != two[:shared]:
                    both = f"it read {_texts(one)}{_of(name)}, {other.named} {_texts(two)}"
                    return f"{both}: neither is the beginning of the other"
        return None

    def cycle(self, mine: _Transaction) -> str | None:
        """Return the shortest cycle that the transaction is in, in words."""
        surely = [one for one in self.transactions if self._happened(one)]
        came_from: dict[int, tuple[_Transaction, str]] = {}
        waiting, compared = [mine], 0
        for one in waiting:
            for other in surely:
                compared += 1
                if other is one or (other is not mine and other.operation.index in came_from):
                    continue
                why = self._before(one, other)
                if why is None:
                    continue
                if other is mine:
                    return "; ".join([*_way(came_from, one, mine), why])
                came_from[other.operation.index] = (one, why)
                waiting.append(other)
            if compared > _MOST_COMPARED:
                return None
        return None

    def _happened(self, one: _Transaction) -> bool:
        if one.operation.status == "ok":
            return True
        return any(self.written[each] == 1 and each in self.seen for each in one.appends)

    def _before(self, one: _Transaction, other: _Transaction) -> str | None:
        """Return why one transaction precedes another; None if no precedence is known."""
        for name, element in one.appends:
            if self.written[name, element] == 1 and (name, element) in other.seen:
                read = f"{other.named} read {_texts(other.reads[name])}{_of(name)}"
                return f"{read}, with {shortened(element)}, which {one.named} appended"
        for name, element in other.appends:
            if name in one.reads and element not in one.reads[name]:
                read = f"{one.named} read {_texts(one.reads[name])}{_of(name)}"
                return f"{read}, without {shortened(element)}, which {other.named} appended"
        if end_of(one.operation) < other.operation.invoke_index:
            return f"{one.named} had completed before {other.named} began"
        return self._shorter(one, other)

    def _shorter(self, one: _Transaction, other: _Transaction) -> str | None:
        """Return the list of which one transaction read less than another transaction."""
        for name in one.reads.keys() & other.reads.keys():
            less, more = one.reads[name], other.reads[name]
            fewer = [each for each in more if each not in less and (name, each) not in one.appends]
            if fewer and not any((name, each) in other.appends for each in fewer):
                return f"{one.named} read {_texts(less)}{_of(name)}, {other.named} {_texts(more)}"
        return None


def _way(
    came_from: Mapping[int, tuple[_Transaction, str]], last: _Transaction, first: _Transaction
) -> Iterator[str]:
    """Yield why each transaction comes before the next, from the first to the last."""
    steps = []
    while last is not first:
        last, why = came_from[last.operation.index]
        steps.append(why)
    return reversed(steps)


def _never(operations: Sequence[Operation], element: Element) -> str:
    """Return why an element can't have been there."""
    some = [one for one in operations if element in _appends(one)]
    value = shortened(element[1])
    if not some:
        return f"no operation ever appended {value}"
    if all(one.status == "fail" for one in some):
        return f"{phrase(some[0])}, which appended {value}, failed"
    later = next(one for one in some if one.status != "fail")
    return f"{phrase(later)}, which appended {value}, began only afterwards"


def _appends(operation: Operation) -> list[Element]:
    observed = actions_of(operation.f, operation.input, None, is_answered=False)
    return [(name, str(value)) for is_read, name, value in observed if not is_read]


def _texts(elements: Sequence[str]) -> str:
    return shortened(f"[{' '.join(elements)}]")


def _of(name: str) -> str:
    return "" if name == OWN_LIST else f" of {shortened(plain_name(name))}"
