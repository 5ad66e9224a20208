"""Registers, vectorised: read, write and compare-and-set of a million operations in a second.

With the rows by linearization point, the value before a row is that of the last update before it.
Half of the compare-and-sets expect the current value and succeed, as after a read; the others
expect another value and fail. A mix without `cas` is the plain read/write register.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.schedule import Schedule
from kraftproof.checkers.generate.subjects.register_corruption import KINDS, corrupted_row
from kraftproof.checkers.generate.subjects.subject import (
    Answers,
    Corruption,
    Play,
    Played,
    Subject,
    drawn_functions,
)

READ: Final = 0
WRITE: Final = 1
CAS: Final = 2
NULL: Final = -1
HIT_SHARE: Final = 0.5
"""The share of compare-and-sets that compare with the register's value."""


@dataclass(slots=True, kw_only=True)
class RegisterRows(Played):
    """One chunk of registers; a wrong answer changes the arrays in place.

    Attributes:
        schedule: when.
        f: int8[n], READ, WRITE or CAS.
        expected: int64[n], what a read answers and a CAS compares with.
        new: int64[n], what a write and a CAS set.
        is_refused: bool[n], whether the row is a CAS that expects another value than the current
            value.
        unwritten: a value that is never written.
    """

    schedule: Schedule
    f: NDArray[np.int8]
    expected: NDArray[np.int64]
    new: NDArray[np.int64]
    is_refused: NDArray[np.bool_]
    unwritten: int

    @override
    def corrupt(self, kind: str, random: Generator) -> int | None:
        return corrupted_row(self, kind, random)

    @override
    def answers(self) -> Answers:
        expected, new = (_texts(each) for each in (self.expected, self.new))
        pairs = pc.binary_join_element_wise("[", expected, ",", new, "]", "")
        is_read, is_write = pa.array(self.f == READ), pa.array(self.f == WRITE)
        return Answers(
            f=self.f,
            input=pc.case_when(pc.make_struct(is_read, is_write), "null", new, pairs),
            output=pc.case_when(pc.make_struct(is_read, is_write), expected, new, pairs),
            is_refused=self.is_refused,
        )


class Registers(Play):
    """The registers of all keys."""

    def __init__(self, options: GenerateOptions, random: Generator) -> None:
        assert options.mix is not None
        self._mix = options.mix
        self._values = options.values
        self._unwritten = options.operations + 1 if options.values is None else options.values
        self._random = random
        self._value = np.full(options.keys, NULL, dtype=np.int64)
        self._drawn = np.zeros(options.keys, dtype=np.int64)

    @override
    def play(self, schedule: Schedule) -> RegisterRows:
        """Answers the chunk."""
        rows = len(schedule)
        f = drawn_functions(self._mix, rows, self._random)
        new = self._new_values(schedule, f)
        is_hit = self._random.random(rows) < (1.0 if self._values == 1 else HIT_SHARE)
        is_update = (f == WRITE) | ((f == CAS) & is_hit)
        before = self._values_before(schedule, new, has_effect=is_update & schedule.has_effect)
        f[is_hit & (f == CAS) & (before == NULL)] = WRITE
        is_miss = (f == CAS) & ~is_hit
        expected = np.where(is_miss, self._other_values(before), before)
        return RegisterRows(
            schedule=schedule,
            f=f,
            expected=expected,
            new=new,
            is_refused=is_miss,
            unwritten=self._unwritten,
        )

    def _new_values(self, schedule: Schedule, f: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the value that each row sets if it is an update: int64[n]."""
        if self._values is not None:
            return self._random.integers(0, self._values, len(f))
        starts = np.flatnonzero(schedule.first)
        count = np.cumsum(f != READ)
        counts = np.diff(np.append(starts, len(f)))
        before = np.concatenate([[0], count])[starts]
        keys = schedule.key[starts]
        new: NDArray[np.int64] = count + np.repeat(self._drawn[keys] - before, counts)
        self._drawn[keys] = new[starts + counts - 1]
        return new

    def _values_before(
        self, schedule: Schedule, new: NDArray[np.int64], *, has_effect: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return the register's value at each row's linearization point, before it: int64[n]."""
        rows = np.arange(len(new))
        last = np.maximum.accumulate(np.where(has_effect, rows, -1))
        start = np.maximum.accumulate(np.where(schedule.first, rows, 0))
        carried = self._value[schedule.key]
        previous = np.concatenate([[-1], last[:-1]])
        ends = np.append(np.flatnonzero(schedule.first)[1:], len(new)) - 1
        is_set = last[ends] >= start[ends]
        self._value[schedule.key[ends][is_set]] = new[last[ends][is_set]]
        return np.asarray(np.where(previous >= start, new[previous], carried))

    def _other_values(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each value, a different value: int64[n]."""
        if self._values is None:
            back = (self._random.random(len(values)) * np.maximum(values, 1)).astype(np.int64)
            return np.asarray(np.where(values == back, values + 1, back))
        if self._values == 1:
            return values
        step = self._random.integers(1, self._values, len(values))
        others: NDArray[np.int64] = (np.maximum(values, 0) + step) % self._values
        return others


class RegisterSubject(Subject):
    """The compare-and-set register, initially null."""

    model = "cas-register"
    mix: Mapping[str, float] = {"read": 1.0, "write": 1.0, "cas": 1.0}
    corruptions: Mapping[str, Corruption] = KINDS

    @override
    def begin(self, options: GenerateOptions, random: Generator) -> Registers:
        return Registers(options, random)


def _texts(values: NDArray[np.int64]) -> pa.Array:
    texts = pc.cast(pa.array(values), pa.string())
    return pc.if_else(pa.array(values == NULL), "null", texts)
