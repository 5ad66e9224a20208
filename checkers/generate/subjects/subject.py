"""What a generated history is of: an object that answers, and the wrong answers it can give.

A subject is a small class, one of a model; `checkers.generate.catalogue` lists them. A subject that
is vectorised implements `Subject`; one that says only how one object answers one question is an
`checkers.generate.subjects.objects.ObjectSubject`. Wrong answers are *kinds of corruption*: one
answer of one operation is replaced. Most kinds are guaranteed to make the history invalid, by an
argument from the events' real-time order alone that is said where they are made; no engine is
asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.schedule import Schedule

TRIES: Final = 200
"""How many places are looked at for a wrong answer before a chunk is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corruption:
    """A kind of wrong answer.

    Attributes:
        told: what it does, in one phrase.
        is_guaranteed: whether the history is invalid with certainty.
    """

    told: str
    is_guaranteed: bool = True


ANY: Final = Corruption(
    told="some answer becomes another that could be one; the history may stay valid",
    is_guaranteed=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What was asked and answered: n rows, those of the schedule.

    Attributes:
        f: int8[n], an index into the subject's functions.
        input: string[n], JSON.
        output: string[n], JSON; of no meaning where nothing was answered.
        is_refused: bool[n], whether the object itself refused: `fail`, if it was heard of.
    """

    f: NDArray[np.int8]
    input: pa.Array
    output: pa.Array
    is_refused: NDArray[np.bool_]


class Played(Protocol):
    """One chunk that the objects have answered."""

    def corrupt(self, kind: str, random: Generator) -> int | None:
        """Makes one answer wrong.

        Returns:
            Its row, or None if this chunk has no place for such an answer.
        """
        ...

    def answers(self) -> Answers:
        """Returns what was asked and answered."""
        ...


class Play(Protocol):
    """The objects of one history, one a key, from chunk to chunk."""

    def play(self, schedule: Schedule) -> Played:
        """Answers the next chunk, in the order of its linearization points."""
        ...


class Subject(Protocol):
    """How histories of one model are made."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    @property
    def mix(self) -> Mapping[str, float]:
        """All functions with their usual weights, in a fixed order."""
        ...

    @property
    def corruptions(self) -> Mapping[str, Corruption]:
        """The kinds of wrong answers, by name."""
        ...

    def begin(self, options: GenerateOptions, random: Generator) -> Play:
        """Returns fresh objects; the options' mix is whole."""
        ...


def drawn_functions(mix: Mapping[str, float], rows: int, random: Generator) -> NDArray[np.int8]:
    """Returns the function of each row by the weights of a mix: int8[rows]."""
    weights = np.cumsum(np.array(list(mix.values()), dtype=np.float64))
    drawn = np.searchsorted(weights, random.random(rows) * weights[-1], side="right")
    return np.asarray(drawn, dtype=np.int8)
