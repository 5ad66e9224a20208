"""Locks and their wrong answers.

An acquisition of a held lock fails at once, as does the release of a free one. In any prefix of a
linearization acquisitions are as many as releases, or one more. Hence invalid: by the end of a
granted acquisition, two more have been granted than releases were begun (double-acquire); by the
end of a granted release, more have been granted than acquisitions were begun (double-release).
"""

from bisect import bisect_left
from random import Random

from typing_extensions import override

from kraftproof.checkers.generate.subjects.objects import (
    Acts,
    Elements,
    ObjectSubject,
    RefusedError,
    SequentialObject,
    Spoil,
)
from kraftproof.checkers.generate.subjects.subject import TRIES, Corruption


class _Lock(SequentialObject):
    def __init__(self) -> None:
        self._is_held = False

    @override
    def ask(self, f: str, random: Random) -> object:
        return None

    @override
    def answer(self, f: str, asked: object) -> object:
        if self._is_held == (f == "acquire"):
            raise RefusedError
        self._is_held = not self._is_held
        return None


def _once_more(f: str, allowed: int) -> Spoil:
    """Grant a refused operation if the grants then exceed the other kind by more than `allowed`."""

    def spoil(acts: Acts, random: Random) -> Acts | None:
        granted = sorted(act.complete for act in acts if act.f == f and act.is_ok)
        others = sorted(act.invoke for act in acts if act.f != f and act.may_happen)
        refused = [(act, act.refused) for act in acts if act.f == f and act.refused is not None]
        for act, end in random.sample(refused, min(TRIES, len(refused))):
            if bisect_left(granted, end) + 1 > bisect_left(others, end) + allowed:
                return [act.answering(None)]
        return None

    return spoil


class MutexSubject(ObjectSubject):
    """A lock that does not record its holder."""

    model = "mutex"
    mix = {"acquire": 1.0, "release": 1.0}
    spoils = {
        "double-acquire": (
            _once_more("acquire", 1),
            Corruption(description="a held lock is acquired once more"),
        ),
        "double-release": (
            _once_more("release", 0),
            Corruption(description="a free lock is released"),
        ),
    }

    @override
    def make(self, elements: Elements) -> _Lock:
        return _Lock()
