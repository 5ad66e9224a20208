"""Rules, shared by models, that explain why an answer is impossible.

Every sentence is certain: a rule names the operations that exclude every other possibility. A rule
without certainty returns None, since the verdict stands anyway.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Final

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import shortened

NEVER: Final = 1 << 62
"""Later than any event: when an operation without an answer may still take effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values that operations set in one place, for example a register, as JSON texts.

    Attributes: sets: returns the value that an operation may set; None for no value.
        finds: returns the value that a completed operation found before it set one; None for none.
        initial: the value at first.
        can_start: whether another initial value can be stated.
        place: the place in words, after a value, as: in register x.
        option: the place as `--initial` names it, with the equals sign.
    """

    sets: Callable[[Operation], str | None]
    initial: str
    finds: Callable[[Operation], str | None] = lambda _: None
    can_start: bool = True
    place: str = ""
    option: str = ""

    def reason(self, operations: Sequence[Operation], wrong: Operation, wanted: str) -> str | None:
        """Return why a place can't have held a value while an operation ran."""
        values = ((one, self.sets(one)) for one in operations if one is not wrong)
        writers = [(one, value) for one, value in values if value is not None]
        same = [one for one, value in writers if value == wanted]
        able = [one for one in same if may_count(one, wrong)]
        if not able and wanted != self.initial:
            is_first = self.can_start and not any(is_over(one, wrong) for one, _ in writers)
            may_be_initial = _may_be_initial(self.option, wanted) if is_first else ""
            return _never_set(same, wanted, self.place) + may_be_initial
        last = max((end_of(one) for one in able), default=-1)
        others = [one for one, value in writers if value != wanted and is_over(one, wrong)]
        since = [one for one in others if one.invoke_index > last and one.status == "ok"]
        back = f"no operation set {f'the value {self.place}'.strip()} back"
        if since:
            return f"{phrase(max(since, key=end_of))} had completed before it began and {back}"
        newer = self._read_since(operations, wrong, wanted, last)
        if newer is not None:
            found = shortened(str(self.finds(newer)))
            return f"{phrase(newer)} had returned {found} before it began and {back}"
        return self._lost_update(operations, wrong, wanted, able)

    def _read_since(
        self, operations: Sequence[Operation], wrong: Operation, wanted: str, last: int
    ) -> Operation | None:
        """Return a read of another value between the last set of a value and the wrong read."""
        reads = [
            one
            for one in operations
            if self.finds(one) not in {None, wanted} and is_over(one, wrong)
            if self.sets(one) is None and one.invoke_index > last
        ]
        return max(reads, key=end_of, default=None)

    def _lost_update(
        self,
        operations: Sequence[Operation],
        wrong: Operation,
        wanted: str,
        able: Sequence[Operation],
    ) -> str | None:
        """Return which operations replaced a value that was set less often than it was replaced.

        An operation that finds a value and sets another one uses up one setting of the value.
        """

        def replaces(one: Operation) -> bool:
            return self.finds(one) == wanted and self.sets(one) not in {None, wanted}

        setters = [one for one in able if self.finds(one) != wanted]
        settings = len(setters) + (wanted == self.initial)
        others = [
            one
            for one in operations
            if one is not wrong and replaces(one) and end_of(one) < end_of(wrong)
        ]
        if not replaces(wrong) or not others or len(others) < settings:
            return None
        what = f"value {shortened(wanted)} {self.place}".strip()
        newest = phrase(max(others, key=end_of))
        if settings > 1:
            count = f"{len(others)} other operations also replaced the {what}"
            often = f"{shortened(wanted)} had been set only {settings} times"
            return f"lost update: {count}, the last of them {newest}, and {often}"
        if setters:
            only = f"which only {phrase(setters[0])} had set"
            return f"lost update: {newest} also replaced the {what}, {only}"
        initial = f"{newest} also replaced the initial {what}"
        return f"lost update: {initial}, which no operation had set again"


def _never_set(same: Sequence[Operation], wanted: str, place: str) -> str:
    value = f"{shortened(wanted)} {place}".strip()
    if not same:
        return f"no operation ever set {value}"
    failed = [one for one in same if one.status == "fail"]
    if len(failed) == len(same):
        return f"no operation had set {value}: {phrase(failed[0])} failed"
    later = next(one for one in same if one.status != "fail")
    return f"no operation had set {value} by then: {phrase(later)} began only afterwards"


def _may_be_initial(option: str, wanted: str) -> str:
    """Return the option to give if the value read before any write was the initial value."""
    return f"; if that is the initial value, give --initial {quote(shortened(option + wanted))}"


def end_of(operation: Operation) -> int:
    """Return the event by which an operation surely took effect; NEVER without an answer."""
    if operation.status != "ok" or operation.complete_index is None:
        return NEVER
    return operation.complete_index


def may_count(other: Operation, wrong: Operation) -> bool:
    """Return whether an operation can have taken effect before the wrong one was over."""
    return other.status != "fail" and other.invoke_index < end_of(wrong)


def is_over(other: Operation, wrong: Operation) -> bool:
    """Return whether an operation surely took effect before the wrong one began."""
    return end_of(other) < wrong.invoke_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """The elements of a container, each put and taken once, as JSON texts.

    Attributes:
        put: the function that puts an element in.
        take: the function that removes an element and answers it, or null for an empty container.
        is_fifo: whether the container is first-in-first-out.
    """

    put: str
    take: str
    is_fifo: bool

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why a take cannot have had its answer."""
        if wrong.f != self.take:
            return None
        if wrong.output is None:
            return self._left(operations, wrong)
        element = canonical(wrong.output)
        puts = [one for one in self._puts(operations, element) if may_count(one, wrong)]
        if not puts:
            return f"no operation had put {shortened(element)} in by then"
        takes = [one for one in self._takes(operations, element) if one is not wrong]
        earlier = [one for one in takes if end_of(one) < end_of(wrong)]
        if len(earlier) >= len(puts):
            times = "only once" if len(puts) == 1 else f"only {len(puts)} times"
            return f"{phrase(earlier[-1])} had already taken it, and it was put in {times}"
        return self._overtaken(operations, wrong, puts) if self.is_fifo else None

    def _puts(self, operations: Sequence[Operation], element: str) -> list[Operation]:
        return [one for one in operations if one.f == self.put and canonical(one.input) == element]

    def _takes(self, operations: Sequence[Operation], element: str) -> list[Operation]:
        """Return the takes that are known to have taken an element."""
        return [
            one
            for one in operations
            if one.f == self.take and one.status == "ok" and canonical(one.output) == element
        ]

    def _lost_takes(self, operations: Sequence[Operation], wrong: Operation) -> int:
        """Return how many takes without an answer may have taken an element by then."""
        return sum(
            one.f == self.take and one.status == "info" and may_count(one, wrong)
            for one in operations
        )

    def _inside(self, operations: Sequence[Operation], wrong: Operation) -> list[Operation]:
        """Return the puts before the wrong take of elements that no answered take took."""
        taken = {
            canonical(one.output)
            for one in operations
            if one.f == self.take and one.status == "ok" and may_count(one, wrong)
        }
        return [
            one
            for one in operations
            if one.f == self.put and is_over(one, wrong) and canonical(one.input) not in taken
        ]

    def _left(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        inside, lost = self._inside(operations, wrong), self._lost_takes(operations, wrong)
        if len(inside) <= lost:
            return None
        if lost:
            done = f"{_and_others(inside)} had completed before it began"
            return f"{done}; {self._not_taken(lost)}"
        done = f"{phrase(inside[0])} had completed before it began"
        return f"{done} and no operation took that element out"

    def _not_taken(self, lost: int) -> str:
        """Say that fewer takes are without an answer than elements are left."""
        some = f"only {lost} {self.take}s are" if lost > 1 else f"only one {self.take} is"
        return f"no answered {self.take} took their elements, and {some} without an answer"

    def _overtaken(
        self, operations: Sequence[Operation], wrong: Operation, puts: Sequence[Operation]
    ) -> str | None:
        first = min(one.invoke_index for one in puts)
        pending = [one for one in self._inside(operations, wrong) if end_of(one) < first]
        lost = self._lost_takes(operations, wrong)
        if len(pending) <= lost:
            return None
        element = shortened(canonical(wrong.output))
        if lost:
            done = f"{_and_others(pending)} had completed before {element} was put in"
            return f"{done}; {self._not_taken(lost)}"
        return (
            f"{phrase(pending[0])} had completed before {element} was put in and was not yet taken"
        )


def _and_others(puts: Sequence[Operation]) -> str:
    """Name the first of some operations, and how many others there are."""
    others = "another one" if len(puts) == 2 else f"{len(puts) - 1} others"
    return f"{phrase(puts[0])} and {others}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The elements of a set, each added and removed any number of times.

    Attributes: adds: the operations that add their input.
        removes: the operations that remove their input.
    """

    adds: Sequence[Operation]
    removes: Sequence[Operation]

    def reason(self, wrong: Operation, found: set[str], asked: set[str] | None) -> str | None:
        """Return which element can't have been found, or can't have been missing.

        Args: wrong: the operation with the impossible answer.
            found: the observed elements, as JSON.
            asked: the requested elements, as JSON; None for the whole set.
        """
        able = [one for one in self.adds if may_count(one, wrong)]
        invented = sorted(found - {canonical(one.input) for one in able})
        if invented:
            return f"no operation had added {shortened(invented[0])} by then"
        removed = {canonical(one.input) for one in self.removes if may_count(one, wrong)}
        for one in self.adds:
            element = canonical(one.input)
            is_asked = asked is None or element in asked
            if is_over(one, wrong) and is_asked and element not in found | removed:
                return f"{phrase(one)} had completed before it began and no operation removed it"
        return None
