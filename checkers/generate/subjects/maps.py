"""Maps and their wrong answers.

Invalid: a get answers a value that was never put (phantom), or an overwritten value (stale-read):
    every put of the value completed before another put or remove began, and the latter completed
    before the get began.
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
    gone_before,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption


class _Entry(SequentialObject):
    """One key of a map."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._value: object = None

    @override
    def ask(self, f: str, random: Random) -> object:
        return self._elements.draw(random) if f == "put" else None

    @override
    def answer(self, f: str, asked: object) -> object:
        if f != "get":
            self._value = asked
        return self._value


def _gets(acts: Acts, random: Random) -> Iterator[Act]:
    gets = [act for act in acts if act.f == "get" and act.is_ok]
    yield from random.sample(gets, min(TRIES, len(gets)))


def _writes(acts: Acts) -> list[tuple[Act, object]]:
    """Return what may have written, with the value it wrote; a remove writes null."""
    return [(act, act.input) for act in acts if act.f != "get" and act.may_happen]


def _phantom(acts: Acts, random: Random) -> Acts | None:
    return next(([act.answering(1_000_000_007)] for act in _gets(acts, random)), None)


def _stale(acts: Acts, random: Random) -> Acts | None:
    for get in _gets(acts, random):
        gone = [value for value in gone_before(get, _writes(acts)) if value is not None]
        if gone:
            return [get.answering(random.choice(gone))]
    return None


def _any(acts: Acts, random: Random) -> Acts | None:
    for get in _gets(acts, random):
        values = {cast("int", value) for _, value in _writes(acts) if value is not None}
        others = sorted(values - {get.output})
        if others:
            return [get.answering(random.choice(others))]
    return None


class MapSubject(ObjectSubject):
    """A map; its keys are independent."""

    model = "map"
    mix = {"get": 4.0, "put": 3.0, "remove": 1.0}
    spoils = {
        "stale-read": (_stale, Corruption(description="a get answers a value overwritten before")),
        "phantom": (_phantom, Corruption(description="a get answers a value that was never put")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Entry:
        return _Entry(elements)
