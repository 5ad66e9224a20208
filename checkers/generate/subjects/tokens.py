"""Locks that fence by tokens, and their wrong answers.

Each lock expires the previous lock and gets the next token. Invalid: a token is accepted although a
greater one was granted before the use began (stale-token); a lock gets a token that is not greater
than one granted before it began (repeated-token); a token is accepted that no lock answered
(phantom).
"""

from collections import deque
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
from kraftproof.checkers.generate.subjects.subject import TRIES, Corruption

_RECENT: Final = 3
"""Uses and unlocks present one of the latest granted tokens; 0 is no token."""


class _FencingLock(SequentialObject):
    def __init__(self) -> None:
        self._largest = 0
        self._alive = 0
        self._answered = deque([0], maxlen=_RECENT)

    @override
    def ask(self, f: str, random: Random) -> object:
        return None if f == "lock" else random.choice(self._answered)

    @override
    def hear(self, f: str, said: object) -> None:
        if f == "lock":
            self._answered.append(cast("int", said))

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "lock":
            self._largest += 1
            self._alive = self._largest
            return self._largest
        is_alive = asked == self._alive > 0
        if f == "use":
            return is_alive
        self._alive = 0 if is_alive else self._alive
        return None


def _some(acts: Acts, f: str, random: Random) -> list[Act]:
    found = [act for act in acts if act.f == f and act.is_ok]
    return random.sample(found, min(TRIES, len(found)))


def _largest_before(acts: Acts, act: Act) -> int:
    """Return the largest token granted before the operation began; 0 for none."""
    granted = (one for one in acts if one.f == "lock" and one.before(act))
    return max((cast("int", one.output) for one in granted), default=0)


def _stale(acts: Acts, random: Random) -> Acts | None:
    for use in _some(acts, "use", random):
        if cast("int", use.input) < _largest_before(acts, use):
            return [use.answering(output=True)]
    return None


def _repeated(acts: Acts, random: Random) -> Acts | None:
    for lock in _some(acts, "lock", random):
        if largest := _largest_before(acts, lock):
            return [lock.answering(random.randrange(1, largest + 1))]
    return None


def _phantom(acts: Acts, random: Random) -> Acts | None:
    description = {act.output for act in acts if act.f == "lock" and act.is_ok}
    for use in _some(acts, "use", random):
        if use.input not in description:
            return [use.answering(output=True)]
    return None


class FencingLockSubject(ObjectSubject):
    """A lock that every acquisition takes from its holder."""

    model = "fencing-lock"
    mix = {"lock": 1.0, "use": 3.0, "unlock": 1.0}
    spoils = {
        "stale-token": (
            _stale,
            Corruption(description="a token is accepted after a greater was granted"),
        ),
        "repeated-token": (
            _repeated,
            Corruption(description="a lock gets a token other than the next token"),
        ),
        "phantom": (_phantom, Corruption(description="a token is accepted that was never granted")),
    }

    @override
    def make(self, elements: Elements) -> _FencingLock:
        return _FencingLock()
