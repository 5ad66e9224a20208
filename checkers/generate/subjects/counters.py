"""Counters and their wrong answers; summands are positive, from 1 to as many as there are values.

The sum only grows. Hence a read is wrong if the answer is less than the certain adds before its
invocation (lost-add), or greater than all adds invoked before its completion (too-high).
"""

from collections.abc import Iterator
from random import Random
from typing import cast

from typing_extensions import override

from kraftproof.checkers.generate.subjects.objects import (
    Act,
    Acts,
    Elements,
    ObjectSubject,
    SequentialObject,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption


class _Counter(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._sum = 0

    @override
    def ask(self, f: str, random: Random) -> object:
        if f == "read":
            return None
        return 1 if self._elements.are_unique else 1 + self._elements.draw(random)

    @override
    def answer(self, f: str, asked: object) -> object:
        if f != "read":
            self._sum += cast("int", asked)
        return asked if f == "add" else self._sum


def _reads(acts: Acts, random: Random) -> Iterator[tuple[Act, int, int]]:
    """Yield reads, at random, with the least and the most that can be the sum then."""
    reads = [act for act in acts if act.f == "read" and act.is_ok]
    for read in random.sample(reads, min(TRIES, len(reads))):
        adds = [act for act in acts if act.f != "read" and act.may_happen]
        least = sum(cast("int", add.input) for add in adds if add.before(read))
        most = sum(cast("int", add.input) for add in adds if add.invoke < read.complete)
        yield read, least, most


def _lost_add(acts: Acts, random: Random) -> Acts | None:
    return next(([r.answering(least - 1)] for r, least, _ in _reads(acts, random) if least), None)


def _too_high(acts: Acts, random: Random) -> Acts | None:
    return next(([read.answering(most + 1)] for read, _, most in _reads(acts, random)), None)


def _any(acts: Acts, random: Random) -> Acts | None:
    for read, least, most in _reads(acts, random):
        others = [number for number in range(least, most + 1) if number != read.output]
        if others:
            return [read.answering(random.choice(others))]
    return None


class CounterSubject(ObjectSubject):
    """A sum that grows; with unique values every summand is 1."""

    model = "counter"
    mix = {"read": 2.0, "add": 1.0, "add-and-get": 1.0}
    spoils = {
        "lost-add": (_lost_add, Corruption(description="a read misses an add completed before")),
        "too-high": (_too_high, Corruption(description="a read answers more than all adds")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Counter:
        return _Counter(elements)
