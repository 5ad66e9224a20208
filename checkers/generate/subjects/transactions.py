"""Registers that transactions read and write together, and their wrong answers.

Invalid: a transaction reads a value that was neither written nor initial (phantom), or an
    overwritten value (stale-read): every write of the value completed before another write of the
    register began, and the latter completed before the transaction began, so the value was
    overwritten and never written again.
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
    gone_before,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption

_NAMES: Final = ("x", "y", "z")
Action = tuple[str, str, int]


class _Registers(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._values = dict.fromkeys(_NAMES, 0)

    @override
    def ask(self, f: str, random: Random) -> object:
        actions: list[list[object]] = []
        for name in random.sample(_NAMES, random.randrange(1, len(_NAMES) + 1)):
            is_read = random.random() < 0.5
            value = None if is_read else self._elements.draw(random) + 1
            actions.append(["read" if is_read else "write", name, value])
        return actions

    @override
    def answer(self, f: str, asked: object) -> object:
        return [self._done(*action) for action in cast("list[Action]", asked)]

    def _done(self, action: str, name: str, value: int) -> list[object]:
        if action == "write":
            self._values[name] = value
        return [action, name, self._values[name]]


def _reads(acts: Acts, random: Random) -> Iterator[tuple[Act, int, str, int]]:
    """Yield reads within answered transactions: (transaction, place, register, value)."""
    answered = [act for act in acts if act.is_ok]
    for act in random.sample(answered, min(TRIES, len(answered))):
        for place, (action, name, value) in enumerate(cast("list[Action]", act.output)):
            if action == "read":
                yield act, place, name, value


def _reading(act: Act, place: int, value: int) -> Act:
    actions = [list(action) for action in cast("list[Action]", act.output)]
    actions[place][2] = value
    return act.answering(actions)


def _writes(acts: Acts, name: str) -> list[tuple[Act, int]]:
    """Return the operations that may have written a register, with their values."""
    return [
        (act, value)
        for act in acts
        if act.may_happen
        for action, register, value in cast("list[Action]", act.input)
        if action == "write" and register == name
    ]


def _phantom(acts: Acts, random: Random) -> Acts | None:
    for act, place, _, _ in _reads(acts, random):
        return [_reading(act, place, 1_000_000_007)]
    return None


def _stale(acts: Acts, random: Random) -> Acts | None:
    for act, place, name, _ in _reads(acts, random):
        gone = gone_before(act, _writes(acts, name))
        if gone:
            return [_reading(act, place, cast("int", random.choice(gone)))]
    return None


def _any(acts: Acts, random: Random) -> Acts | None:
    for act, place, name, value in _reads(acts, random):
        others = sorted({0, *(other for _, other in _writes(acts, name))} - {value})
        if others:
            return [_reading(act, place, random.choice(others))]
    return None


class MultiRegisterSubject(ObjectSubject):
    """Three registers a key, initially 0; a transaction uses one to three registers."""

    model = "multi-register"
    mix = {"txn": 1.0}
    spoils = {
        "stale-read": (_stale, Corruption(description="a read answers a value overwritten before")),
        "phantom": (
            _phantom,
            Corruption(description="a read answers a value that was never written"),
        ),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Registers:
        return _Registers(elements)
