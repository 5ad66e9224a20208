"""The subject of a generated history: an object with its right and wrong answers.

A subject is a small class, one of a model; `checkers.generate.catalogue` lists them. A vectorised
subject implements `Subject`; a subject that defines only the answers of one object is a
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
"""Number of places tried for a wrong answer in a chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corruption:
    """A kind of wrong answer.

    Attributes:
        description: the effect, in one phrase.
        is_guaranteed: whether the history is invalid with certainty.
    """

    description: str
    is_guaranteed: bool = True


ANY: Final = Corruption(
    description="some answer becomes another that could be one; the history may stay valid",
    is_guaranteed=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The inputs and answers of the n rows of the schedule.

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
    """A chunk with the objects' answers."""

    def corrupt(self, kind: str, random: Generator) -> int | None:
        """Make one answer wrong.

        Returns: The row of the answer, or None if no answer of this chunk can be made wrong.
        """
        ...

    def answers(self) -> Answers:
        """Return the inputs and answers."""
        ...


class Play(Protocol):
    """The objects of a history, one for each key, kept from chunk to chunk."""

    def play(self, schedule: Schedule) -> Played:
        """Answers the next chunk, in the order of its linearization points."""
        ...


class Subject(Protocol):
    """The subject of one model's histories."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    @property
    def mix(self) -> Mapping[str, float]:
        """The functions with their usual weights, in a fixed order."""
        ...

    @property
    def corruptions(self) -> Mapping[str, Corruption]:
        """The kinds of wrong answers, by name."""
        ...

    def begin(self, options: GenerateOptions, random: Generator) -> Play:
        """Return fresh objects; the options' mix is whole."""
        ...


def drawn_functions(mix: Mapping[str, float], rows: int, random: Generator) -> NDArray[np.int8]:
    """Return the function of each row by the weights of a mix: int8[rows]."""
    weights = np.cumsum(np.array(list(mix.values()), dtype=np.float64))
    drawn = np.searchsorted(weights, random.random(rows) * weights[-1], side="right")
    return np.asarray(drawn, dtype=np.int8)
