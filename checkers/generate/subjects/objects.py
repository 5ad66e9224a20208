"""Subjects for sequential objects: a small class defines the answers of one object.

The object is asked in the order of the linearization points, one operation at a time. An answer
that the client never receives is dropped; an operation without an effect is not given to the
object. A corruption is a function on the acts of one key, in the order of invocation, that returns
changed copies of some acts, the wrong act first.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, Protocol

import msgspec
import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.schedule import Schedule
from kraftproof.checkers.generate.subjects.subject import (
    Answers,
    Corruption,
    Play,
    Played,
    Subject,
    drawn_functions,
)
from kraftproof.checkers.history.columns import FAIL, NEVER, OK

_KEYS_TRIED: Final = 100


class RefusedError(Exception):
    """The object refuses in its present state: the operation fails."""


class SequentialObject(Protocol):
    """An object that answers one operation after another."""

    def ask(self, f: str, random: Random) -> object:
        """Return an input for the function."""
        ...

    def answer(self, f: str, asked: object) -> object:
        """Do the operation and returns its answer.

        Raises:
            RefusedError: it can't be done in this state; the state is as before.
        """
        ...

    def hear(self, f: str, said: object) -> None:
        """Receive an answer that a client received; clients know only received answers."""
        del f, said  # most objects are asked without regard to answers


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """An operation on a key, in the form that corruptions use.

    Attributes:
        row: its row in the schedule.
        f: the function.
        input: what was asked.
        output: the answer; of no meaning unless the status is OK.
        status: OK, FAIL or INFO.
        invoke: the index of the invocation's event.
        complete: that of the completion's; NEVER unless the status is OK.
        refused: the event of the completion if the object itself refused the operation, so that a
            corruption may grant the operation; else None.
    """

    row: int
    f: str
    input: object
    output: object
    status: int
    invoke: int
    complete: int
    refused: int | None

    @property
    def is_ok(self) -> bool:
        """Return whether it was answered."""
        return self.status == OK

    @property
    def may_happen(self) -> bool:
        """Return whether it took effect or may have."""
        return self.status != FAIL

    def before(self, other: "Act") -> bool:
        """Return whether the act completed before the other began."""
        return self.complete < other.invoke

    def answering(self, output: object) -> "Act":
        """Return the act with the given answer."""
        return msgspec.structs.replace(self, output=output, status=OK)


Acts = Sequence[Act]


def gone_before(read: Act, writes: Sequence[tuple[Act, object]]) -> list[object]:
    """Return the written values that a register cannot hold during a read.

    A value is gone if all its writes completed before another write began, and the latter completed
    before the read began (`checkers.generate.subjects.register_corruption`).

    Args: read: the reading operation.
        writes: the operations that may have written the register, with their values.
    """
    past = [(act, value) for act, value in writes if act.invoke < read.complete]
    over = [act for act, _ in past if act.before(read)]
    if not over:
        return []
    last = max(over, key=lambda act: act.invoke)
    possible = {value for act, value in past if not act.before(last)}
    return [value for value in dict.fromkeys(value for _, value in past) if value not in possible]


Spoil = Callable[[Acts, Random], Acts | None]
"""(acts of a key by invocation, random) -> changed copies, the wrong one first, or None."""


class Elements:
    """Draws what is put into objects: numbers from 0 on, or each once."""

    def __init__(self, values: int | None) -> None:
        self._values = values
        self._drawn = 0

    @property
    def are_unique(self) -> bool:
        """Return whether each is drawn once."""
        return self._values is None

    def draw(self, random: Random) -> int:
        """Return the next element."""
        if self._values is not None:
            return int(random.random() * self._values)
        self._drawn += 1
        return self._drawn

    def recent(self, count: int, random: Random) -> int:
        """Return an element, from the last elements drawn if each element is drawn once."""
        if self._values is not None:
            return self.draw(random)
        return max(1, self._drawn - int(random.random() * count))


class ObjectSubject(Subject):
    """A subject made of plain objects; a model is a subclass with its object and corruptions."""

    @property
    @abstractmethod
    def spoils(self) -> Mapping[str, tuple[Spoil, Corruption]]:
        """The kinds of corruption by name, each with how it is made."""

    @abstractmethod
    def make(self, elements: Elements) -> SequentialObject:
        """Return a fresh object."""

    @property
    @override
    def corruptions(self) -> Mapping[str, Corruption]:
        return {name: corruption for name, (_, corruption) in self.spoils.items()}

    @override
    def begin(self, options: GenerateOptions, random: Generator) -> "Objects":
        return Objects(self, options, random)


class Objects(Play):
    """The objects of all unfinished keys."""

    def __init__(self, subject: ObjectSubject, options: GenerateOptions, random: Generator) -> None:
        assert options.mix is not None
        self._subject = subject
        self._values = options.values
        self._mix = options.mix
        self._random = random
        self._chance = Random(int(random.integers(1 << 62)))
        self._objects: dict[int, SequentialObject] = {}

    @override
    def play(self, schedule: Schedule) -> "ObjectRows":
        """Answers the chunk."""
        f = drawn_functions(self._mix, len(schedule), self._random)
        names = tuple(self._mix)
        asked: list[object] = []
        said: list[object] = []
        is_refused = np.zeros(len(schedule), dtype=np.bool_)
        ends = np.append(np.flatnonzero(schedule.first)[1:], len(schedule)).tolist()
        has_effect, functions = schedule.has_effect.tolist(), f.tolist()
        is_heard = (schedule.status == OK).tolist()
        keys = schedule.key[schedule.first].tolist()
        start = 0
        for key, end in zip(keys, ends, strict=True):
            one = self._objects.pop(key, None) or self._subject.make(Elements(self._values))
            for row in range(start, end):
                name = names[functions[row]]
                asked.append(question := one.ask(name, self._chance))
                try:
                    said.append(one.answer(name, question) if has_effect[row] else None)
                except RefusedError:
                    said.append(None)
                    is_refused[row] = True
                    continue
                if is_heard[row]:
                    one.hear(name, said[-1])
            self._objects[key] = one
            start = end
        self._forget(keys)
        return ObjectRows(self._subject, schedule, names, f, asked, said, is_refused)

    def _forget(self, keys: list[int]) -> None:
        """Keep only objects that may go on: the first key, and the last of a chunk."""
        self._objects = {key: self._objects[key] for key in {keys[0], keys[-1]}}


class ObjectRows(Played):
    """One chunk of objects; a wrong answer changes the lists in place."""

    def __init__(
        self,
        subject: ObjectSubject,
        schedule: Schedule,
        names: tuple[str, ...],
        f: NDArray[np.int8],
        asked: list[object],
        said: list[object],
        is_refused: NDArray[np.bool_],
    ) -> None:
        self._subject = subject
        self._schedule = schedule
        self._names = names
        self._f = f
        self._asked = asked
        self._said = said
        self._is_refused = is_refused

    @override
    def corrupt(self, kind: str, random: Generator) -> int | None:
        spoil, _ = self._subject.spoils[kind]
        chance = Random(int(random.integers(1 << 62)))
        starts = np.flatnonzero(self._schedule.first & self._schedule.is_fresh)
        for start in random.permutation(starts)[:_KEYS_TRIED]:
            changed = spoil(self._acts(int(start)), chance)
            if changed:
                for act in changed:
                    self._said[act.row] = act.output
                    self._is_refused[act.row] = not act.is_ok
                return changed[0].row
        return None

    def _acts(self, start: int) -> list[Act]:
        schedule = self._schedule
        end = int(np.searchsorted(schedule.key, schedule.key[start] + 1))
        order = start + np.argsort(schedule.invoke[start:end])
        is_refused = self._is_refused & (schedule.status == OK)
        status = np.where(is_refused, FAIL, schedule.status)
        complete = np.where(status == OK, schedule.complete, NEVER)
        return [
            Act(
                row=row,
                f=self._names[self._f[row]],
                input=self._asked[row],
                output=self._said[row],
                status=int(status[row]),
                invoke=int(schedule.invoke[row]),
                complete=int(complete[row]),
                refused=int(schedule.complete[row]) if is_refused[row] else None,
            )
            for row in map(int, order)
        ]

    @override
    def answers(self) -> Answers:
        return Answers(
            f=self._f,
            input=_json(self._asked),
            output=_json(self._said),
            is_refused=self._is_refused,
        )


def _json(values: list[object]) -> pa.Array:
    """Return the values as JSON texts: string[n]."""
    encode = msgspec.json.Encoder().encode
    return pa.array([encode(value) for value in values], pa.binary()).cast(pa.string())
