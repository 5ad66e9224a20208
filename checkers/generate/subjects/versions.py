"""Registers that number their values, and their wrong answers.

Versions grow. Invalid: a get answers an earlier answer although a greater version was answered
before the get began (stale-read); or a value that nothing ever set (phantom).
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
    RefusedError,
    SequentialObject,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption

Answer = list[object]
"""[value, version], as a get answers."""


class _Versioned(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._value: object = None
        self._version = 0

    @override
    def ask(self, f: str, random: Random) -> object:
        """Ask for the present version in half of all set-ifs, as after a get."""
        if f == "get":
            return None
        value = self._elements.draw(random)
        return value if f == "set" else [max(0, self._version - random.randrange(2)), value]

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "get":
            return [self._value, self._version]
        if f == "set-if":
            version, asked = cast("Answer", asked)
            if version != self._version:
                raise RefusedError
        self._value = asked
        self._version += 1
        return self._version


def _version(act: Act) -> int:
    answer = cast("Answer", act.output)[1] if act.f == "get" else act.output
    return cast("int", answer)


def _gets(acts: Acts, random: Random) -> Iterator[Act]:
    gets = [act for act in acts if act.f == "get" and act.is_ok]
    yield from random.sample(gets, min(TRIES, len(gets)))


def _stale(acts: Acts, random: Random) -> Acts | None:
    for get in _gets(acts, random):
        past = [act for act in acts if act.before(get)]
        greatest = max(map(_version, past), default=0)
        earlier = [act.output for act in past if act.f == "get" and _version(act) < greatest]
        if earlier:
            return [get.answering(random.choice(earlier))]
    return None


def _phantom(acts: Acts, random: Random) -> Acts | None:
    return next(
        ([get.answering([1_000_000_007, max(1, _version(get))])] for get in _gets(acts, random)),
        None,
    )


def _any(acts: Acts, random: Random) -> Acts | None:
    for get in _gets(acts, random):
        others = [act.output for act in acts if act.f == "get" and act.is_ok]
        others = [answer for answer in others if answer != get.output]
        if others:
            return [get.answering(random.choice(others))]
    return None


class VersionedRegisterSubject(ObjectSubject):
    """A register with versions; half of the set-ifs are refused."""

    model = "versioned-register"
    mix = {"get": 1.0, "set": 1.0, "set-if": 1.0}
    spoils = {
        "stale-read": (
            _stale,
            Corruption(description="a get answers a version older than one seen before"),
        ),
        "phantom": (_phantom, Corruption(description="a get answers a value that was never set")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Versioned:
        return _Versioned(elements)
