"""Logs and their wrong answers.

Invalid: a value is fetched that was never produced (phantom); nothing is found at an offset that a
produce answered before the fetch began (lost-record); of two produces the one that began after the
other was over gets the lesser offset (reordered).
"""

from collections.abc import Iterator
from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.checkers.generate.subjects.objects import (
    Act,
    Acts,
    Elements,
    ObjectSubject,
    SequentialObject,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption

_RECENT: Final = 8
"""Fetches ask for an offset near the end; number of offsets, including the next offset."""


class _Log(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._records: list[object] = []

    @override
    def ask(self, f: str, random: Random) -> object:
        if f == "produce":
            return self._elements.draw(random)
        return max(0, len(self._records) - int(random.random() * _RECENT))

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "produce":
            self._records.append(asked)
            return len(self._records) - 1
        offset = cast("int", asked)
        return self._records[offset] if offset < len(self._records) else None


def _fetches(acts: Acts, random: Random) -> Iterator[Act]:
    """Yield fetches with a value, in random order."""
    found = [act for act in acts if act.f == "fetch" and act.is_ok and act.output is not None]
    yield from random.sample(found, min(TRIES, len(found)))


def _produces(acts: Acts) -> list[Act]:
    return [act for act in acts if act.f == "produce" and act.is_ok]


def _phantom(acts: Acts, random: Random) -> Acts | None:
    return next(([act.answering(1_000_000_007)] for act in _fetches(acts, random)), None)


def _lost(acts: Acts, random: Random) -> Acts | None:
    produces = {act.output: act for act in _produces(acts)}
    for fetch in _fetches(acts, random):
        if fetch.input in produces and produces[fetch.input].before(fetch):
            return [fetch.answering(None)]
    return None


def _reordered(acts: Acts, random: Random) -> Acts | None:
    produces = _produces(acts)
    for one in random.sample(produces, min(TRIES, len(produces))):
        later = [act for act in produces if one.before(act)]
        if later:
            other = random.choice(later)
            return [other.answering(one.output), one.answering(other.output)]
    return None


def _any(acts: Acts, random: Random) -> Acts | None:
    for fetch in _fetches(acts, random):
        values = sorted({cast("int", act.input) for act in _produces(acts)} - {fetch.output})
        return [fetch.answering(random.choice([*values, None]))]
    return None


class AppendLogSubject(ObjectSubject):
    """A log; clients mostly look near its end."""

    model = "append-log"
    mix = {"produce": 1.0, "fetch": 2.0}
    spoils = {
        "phantom": (
            _phantom,
            Corruption(description="a fetch answers a value that was never produced"),
        ),
        "lost-record": (
            _lost,
            Corruption(description="a fetch finds nothing at the offset of a record"),
        ),
        "reordered": (_reordered, Corruption(description="two produces exchange their offsets")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Log:
        return _Log(elements)
