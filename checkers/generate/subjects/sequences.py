"""Objects with appends and whole reads: strings and lists, and their wrong answers.

An answer shows pieces: those that were appended since the last time the whole was replaced, in
order. Let every piece concerned be written once. Hence invalid: two pieces in an answer the wrong
way round, if the append of the one was over before that of the other began (reordered); an answer
without a piece, if its append began after that of the piece before it was over, and was over before
that of the piece after it began (lost-append).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

Piece = str | int
NEVER_WRITTEN: Final = 1_000_000_007
_PIECE: Final = re.compile("<[0-9]+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The functions by which a model writes and reads pieces.

    Attributes: read: the function that reads the pieces.
        writes: the functions that write one piece each, their input.
        split: converts an answer to its pieces.
        join: pieces to an answer.
        never: a piece that is never written.
    """

    read: str
    writes: frozenset[str]
    split: Callable[[object], list[Piece]]
    join: Callable[[Sequence[Piece]], object]
    never: Piece


STRINGS: Final = Form(
    read="get",
    writes=frozenset({"put", "append"}),
    split=lambda answer: list(_PIECE.findall(str(answer))),
    join=lambda pieces: "".join(map(str, pieces)),
    never=f"<{NEVER_WRITTEN}>",
)
LISTS: Final = Form(
    read="read",
    writes=frozenset({"append"}),
    split=lambda answer: list(cast("list[Piece]", answer)),
    join=list,
    never=NEVER_WRITTEN,
)

Spoiled = Callable[[list[Piece], dict[Piece, Act]], list[Piece] | None]
"""(the pieces of an answer, what wrote each that was written once) -> wrong pieces."""


def _spoil(form: Form, spoiled: Spoiled) -> Spoil:
    def spoil(acts: Acts, random: Random) -> Acts | None:
        writes = _written_once(acts, form)
        for act in _reads(acts, random, form):
            pieces = spoiled(form.split(act.output), writes)
            if pieces is not None:
                return [act.answering(form.join(pieces))]
        return None

    return spoil


def _reads(acts: Acts, random: Random, form: Form) -> Iterator[Act]:
    reads = [act for act in acts if act.f == form.read and act.is_ok]
    yield from random.sample(reads, min(TRIES, len(reads)))


def _written_once(acts: Acts, form: Form) -> dict[Piece, Act]:
    writes = [act for act in acts if act.f in form.writes and act.may_happen]
    times = Counter(cast("Piece", act.input) for act in writes)
    return {piece: act for act in writes if times[piece := cast("Piece", act.input)] == 1}


def _reordered(pieces: list[Piece], writes: dict[Piece, Act]) -> list[Piece] | None:
    for place in range(1, len(pieces)):
        one, other = (writes.get(piece) for piece in pieces[place - 1 : place + 1])
        if one and other and one.before(other):
            return [*pieces[: place - 1], pieces[place], pieces[place - 1], *pieces[place + 1 :]]
    return None


def _lost(pieces: list[Piece], writes: dict[Piece, Act]) -> list[Piece] | None:
    for place in range(1, len(pieces) - 1):
        one, lost, other = (writes.get(piece) for piece in pieces[place - 1 : place + 2])
        if one and lost and other and one.before(lost) and lost.before(other):
            return [*pieces[:place], *pieces[place + 1 :]]
    return None


def _shorter(pieces: list[Piece], writes: dict[Piece, Act]) -> list[Piece] | None:
    del writes
    return pieces[:-1] if pieces else None


def _spoils(form: Form) -> dict[str, tuple[Spoil, Corruption]]:
    read = form.read
    return {
        "phantom": (
            _spoil(form, lambda pieces, _: [*pieces, form.never]),
            Corruption(description=f"a {read} shows a piece that was never written"),
        ),
        "reordered": (
            _spoil(form, _reordered),
            Corruption(description=f"a {read} shows two appends the wrong way round"),
        ),
        "lost-append": (
            _spoil(form, _lost),
            Corruption(description=f"a {read} lacks an append between two that it shows"),
        ),
        "any": (_spoil(form, _shorter), ANY),
    }


class _Text(SequentialObject):
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._text = ""

    @override
    def ask(self, f: str, random: Random) -> object:
        return None if f == "get" else f"<{self._elements.draw(random)}>"

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "get":
            return self._text
        self._text = str(asked) if f == "put" else self._text + str(asked)
        return asked


class KvAppendSubject(ObjectSubject):
    """A store of strings; only a few operations replace the string, so the string grows."""

    model = "kv-append"
    mix = {"get": 5.0, "append": 4.0, "put": 1.0}
    spoils = _spoils(STRINGS)

    @override
    def make(self, elements: Elements) -> _Text:
        return _Text(elements)


class _Lists(SequentialObject):
    """The key's own list, and the lists named by transactions."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._own: list[int] = []
        self._named: dict[str, list[int]] = {"x": [], "y": [], "z": []}

    @override
    def ask(self, f: str, random: Random) -> object:
        if f == "read":
            return None
        if f == "append":
            return self._elements.draw(random)
        actions: list[list[object]] = []
        for _ in range(random.randrange(1, 4)):
            name = random.choice("xyz")
            is_read = random.random() < 0.5
            actions.append(["r", name, None] if is_read else ["append", name, self._draw(random)])
        return actions

    def _draw(self, random: Random) -> int:
        return self._elements.draw(random)

    @override
    def answer(self, f: str, asked: object) -> object:
        if f == "read":
            return list(self._own)
        if f == "append":
            self._own.append(cast("int", asked))
            return asked
        return [self._done(*action) for action in cast("list[tuple[str, str, int]]", asked)]

    def _done(self, action: str, name: str, value: int) -> list[object]:
        if action == "r":
            return [action, name, list(self._named[name])]
        self._named[name].append(value)
        return [action, name, value]


class ListAppendSubject(ObjectSubject):
    """A list a key; transactions (mix txn=1) are on three more. Lists only grow: use many keys."""

    model = "list-append"
    mix = {"append": 1.0, "read": 1.0, "txn": 0.0}
    spoils = _spoils(LISTS)

    @override
    def make(self, elements: Elements) -> _Lists:
        return _Lists(elements)
