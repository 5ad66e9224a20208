"""Sets and their wrong answers.

A `contains` that answers true, and a `read` that shows the element, are wrong if no add of it was
begun before they were over (phantom). A negative answer is wrong if an add completed before the
question began and every remove completed before the add began, or began after the question ended
(lost-add).
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
"""Questions concern one of the elements drawn last; number of elements."""


class _Set(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._inside: set[int] = set()

    @override
    def ask(self, f: str, random: Random) -> object:
        if f == "read":
            return None
        return self._elements.draw(random) if f == "add" else self._elements.recent(_RECENT, random)

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "read":
            return sorted(self._inside)
        element = cast("int", asked)
        if f == "contains":
            return element in self._inside
        if f == "add":
            self._inside.add(element)
        else:
            self._inside.discard(element)
        return asked


def _questions(acts: Acts, random: Random) -> Iterator[tuple[Act, set[int], list[Act]]]:
    """Yield answers, at random, with the elements they show and what came before their end."""
    asked = [act for act in acts if act.f in {"contains", "read"} and act.is_ok]
    for act in random.sample(asked, min(TRIES, len(asked))):
        element = cast("int", act.input)
        shown = {element} if act.output is True else set(cast("list[int]", act.output or []))
        past = [one for one in acts if one.invoke < act.complete and one.may_happen]
        yield act, shown, past


def _phantom(acts: Acts, random: Random) -> Acts | None:
    for act, _, past in _questions(acts, random):
        if act.f == "read":
            return [act.answering([*cast("list[int]", act.output), 1_000_000_007])]
        if all(one.f != "add" or one.input != act.input for one in past):
            return [act.answering(output=True)]
    return None


def _is_inside(element: int, act: Act, past: list[Act]) -> bool:
    """Return whether the element is inside for certain as long as the operation lasts."""
    adds = [one for one in past if (one.f, one.input) == ("add", element) and one.before(act)]
    removes = [one for one in past if (one.f, one.input) == ("remove", element)]
    return any(all(remove.before(add) for remove in removes) for add in adds)


def _lost_add(acts: Acts, random: Random) -> Acts | None:
    for act, shown, past in _questions(acts, random):
        for element in sorted(shown):
            if _is_inside(element, act, past):
                return [_denying(act, element)]
    return None


def _denying(act: Act, element: int) -> Act:
    if act.f == "contains":
        return act.answering(output=False)
    return act.answering([one for one in cast("list[int]", act.output) if one != element])


def _any(acts: Acts, random: Random) -> Acts | None:
    for act, shown, _ in _questions(acts, random):
        if act.f == "contains":
            return [act.answering(output=not shown)]
        if shown:
            return [_denying(act, random.choice(sorted(shown)))]
    return None


class SetSubject(ObjectSubject):
    """A set; with add=1,read=1 one that only grows and is read whole."""

    model = "set"
    mix = {"add": 2.0, "remove": 1.0, "contains": 3.0, "read": 0.0}
    spoils = {
        "lost-add": (
            _lost_add,
            Corruption(description="an element is denied that is surely present"),
        ),
        "phantom": (_phantom, Corruption(description="an element is shown that was never added")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Set:
        return _Set(elements)
