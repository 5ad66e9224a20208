"""Queues, stacks and priority queues, and their wrong answers.

Why the guaranteed kinds are invalid, for takes that were answered:
- duplicate: with this take, more takes have answered an element by now than puts of it were begun.
- false-empty: more puts had completed before this take began than other takes began before this
  take ended, so the container was never empty.
- out-of-order: two takes exchange their answers. The first one answers y, the second one, begun
  after it was over, x; each was put once, so x was inside until the second take. The first could
  have had y only after x: in a queue since x was put first, on a stack since x was put on top of y
  before the first take began, in a priority queue since x is less and was inside before it began.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.checkers.generate.subjects.objects import (
    Act,
    Acts,
    Elements,
    ObjectSubject,
    SequentialObject,
    Spoil,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption

_PUTS: Final = frozenset({"enqueue", "push", "insert"})
_PHANTOM: Final = 1_000_000_007
"""An element that is never put: greater than any number drawn."""

_BLOCK: Final = 1024
_STRIDE: Final = 389
"""A step without a common divisor with _BLOCK, so that its multiples visit every place of a block.
"""


class _Container(SequentialObject):
    """A container; `_put` and `_take` define the order of its elements."""

    def __init__(self, elements: Elements, inside: "deque[int] | list[int]") -> None:
        self._elements = elements
        self._inside = inside

    @override
    def ask(self, f: str, random: Random) -> object:
        return self._elements.draw(random) if f in _PUTS else None

    @override
    def answer(self, f: str, asked: object) -> object:
        if f in _PUTS:
            self._put(cast("int", asked))
            return asked
        return self._take() if self._inside else None

    def _put(self, element: int) -> None:
        self._inside.append(element)

    def _take(self) -> int:
        return self._inside.pop()


class _Queue(_Container):
    def __init__(self, elements: Elements) -> None:
        self._queue: deque[int] = deque()
        super().__init__(elements, self._queue)

    @override
    def _take(self) -> int:
        return self._queue.popleft()


class _PriorityQueue(_Container):
    def __init__(self, elements: Elements) -> None:
        self._heap: list[int] = []
        super().__init__(elements, self._heap)

    @override
    def ask(self, f: str, random: Random) -> object:
        """Ask for elements in no order: unique ones come in shuffled blocks."""
        if f not in _PUTS:
            return None
        block, place = divmod(self._elements.draw(random), _BLOCK)
        return block * _BLOCK + place * _STRIDE % _BLOCK

    @override
    def _put(self, element: int) -> None:
        heappush(self._heap, element)

    @override
    def _take(self) -> int:
        return heappop(self._heap)


def _takes(acts: Acts, random: Random) -> Iterator[Act]:
    """Yield takes with an element, in random order."""
    found = [act for act in acts if act.f not in _PUTS and act.is_ok and act.output is not None]
    yield from random.sample(found, min(TRIES, len(found)))


def _phantom(acts: Acts, random: Random) -> Acts | None:
    return next(([take.answering(_PHANTOM)] for take in _takes(acts, random)), None)


def _duplicate(acts: Acts, random: Random) -> Acts | None:
    for take in _takes(acts, random):
        begun = Counter(
            a.input for a in acts if a.f in _PUTS and a.may_happen and _overlaps(a, take)
        )
        taken = Counter(
            cast("int", a.output)
            for a in acts
            if a.f not in _PUTS and a.complete < take.complete and a.output is not None
        )
        again = sorted(element for element, times in taken.items() if times >= begun[element])
        if again:
            return [take.answering(random.choice(again))]
    return None


def _overlaps(act: Act, take: Act) -> bool:
    return act.invoke < take.complete


def _false_empty(acts: Acts, random: Random) -> Acts | None:
    put_over = sorted(act.complete for act in acts if act.f in _PUTS and act.is_ok)
    take_begun = sorted(act.invoke for act in acts if act.f not in _PUTS and act.may_happen)
    for take in _takes(acts, random):
        others = bisect_left(take_begun, take.complete) - 1
        if bisect_left(put_over, take.invoke) > others:
            return [take.answering(None)]
    return None


Wrong = Callable[[Act, Act, Act], bool]
"""(put of x, put of y, the first take) -> whether the first take can't answer y."""


def _out_of_order(wrong: Wrong) -> Spoil:
    def spoil(acts: Acts, random: Random) -> Acts | None:
        begun = Counter(act.input for act in acts if act.f in _PUTS and act.may_happen)
        puts = {act.input: act for act in acts if act.f in _PUTS and act.is_ok}
        takes = [t for t in _takes(acts, random) if t.output in puts and begun[t.output] == 1]
        for first in takes:
            for second in takes:
                pair = puts[first.output], puts[second.output]
                if first.before(second) and wrong(*pair, first):
                    return [first.answering(second.output), second.answering(first.output)]
        return None

    return spoil


def _any(acts: Acts, random: Random) -> Acts | None:
    elements = sorted({cast("int", act.input) for act in acts if act.f in _PUTS})
    for take in _takes(acts, random):
        others: list[int | None] = [each for each in elements if each != take.output]
        return [take.answering(random.choice([*others, None]))]
    return None


def _spoils(wrong: Wrong) -> dict[str, tuple[Spoil, Corruption]]:
    return {
        "duplicate": (_duplicate, Corruption(description="an element is taken twice")),
        "phantom": (_phantom, Corruption(description="an element is taken that was never put")),
        "false-empty": (
            _false_empty,
            Corruption(description="a take finds the container empty though it is not"),
        ),
        "out-of-order": (
            _out_of_order(wrong),
            Corruption(
                description="two takes exchange their answers, so the first is out of order"
            ),
        ),
        "any": (_any, ANY),
    }


class QueueSubject(ObjectSubject):
    """First in, first out."""

    model = "queue"
    mix = {"enqueue": 1.0, "dequeue": 1.0}
    spoils = _spoils(lambda x, y, first: x.before(y))

    @override
    def make(self, elements: Elements) -> _Queue:
        return _Queue(elements)


class StackSubject(ObjectSubject):
    """Last in, first out."""

    model = "stack"
    mix = {"push": 1.0, "pop": 1.0}
    spoils = _spoils(lambda x, y, first: y.before(x) and x.before(first))

    @override
    def make(self, elements: Elements) -> _Container:
        return _Container(elements, [])


class PriorityQueueSubject(ObjectSubject):
    """The least first; elements that are drawn once each come in no order."""

    model = "priority-queue"
    mix = {"insert": 1.0, "delete-min": 1.0}
    spoils = _spoils(
        lambda x, y, first: cast("int", x.input) < cast("int", y.input) and x.before(first)
    )

    @override
    def make(self, elements: Elements) -> _PriorityQueue:
        return _PriorityQueue(elements)
