"""Makes histories whose verdict is known: valid by construction, or with one wrong answer in them.

Virtual clients work on real sequential objects in virtual time: `schedule` decides when,
`catalogue` lists what they work on, `writing` writes the file, chunk by chunk in bounded memory.
The same options give the same bytes. It runs no engine.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from kraftproof.checkers.generate.assembly import chunk_table
from kraftproof.checkers.generate.catalogue import subject_named
from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.partitions import MODEL as PARTITIONS
from kraftproof.checkers.generate.partitions import PartitionChunks
from kraftproof.checkers.generate.portions import CHUNK_OPERATIONS, portions_of
from kraftproof.checkers.generate.schedule import Scheduler
from kraftproof.checkers.generate.subjects.subject import Subject
from kraftproof.checkers.generate.writing import refuse_suffix, writer
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.verdict import CheckerInputError
from kraftproof.spelling import nearest

Tell = Callable[[int], None]
"""Told how many operations have been made."""


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """A generated history.

    Attributes:
        operations: how many.
        verdict: valid, invalid, or unknown after a corruption without a guarantee.
        corrupted: the operation with the wrong answer, if any.
    """

    operations: int
    verdict: str
    corrupted: Operation | None


def generate(options: GenerateOptions, out: Path, tell: Tell = lambda _: None) -> Generated:
    """Write a history to a file (.jsonl, .jsonl.gz or .parquet).

    Raises:
        CheckerInputError: an option can't be, or the history has no place for the corruption; there
            is no file then.
    """
    refuse_suffix(out)
    chunks = _chunks(options)
    made = 0
    with writer(out) as write:
        for table in chunks:
            write(table)
            made += len(table)
            tell(made)
    return Generated(operations=made, verdict=chunks.verdict, corrupted=chunks.corrupted)


def _chunks(options: GenerateOptions) -> "Chunks | PartitionChunks":
    if options.model == PARTITIONS:
        return PartitionChunks(options, CHUNK_OPERATIONS)
    return Chunks(options)


class Chunks:
    """The tables of operations of one history, in order; to be iterated once.

    Attributes:
        corrupted: the operation with the wrong answer, once its chunk has been made.
    """

    def __init__(self, options: GenerateOptions, chunk: int = CHUNK_OPERATIONS) -> None:
        """Check what is asked for.

        Raises: CheckerInputError: the model, function or kind of corruption is unknown.
        """
        self._subject = subject_named(options.model)
        self._options = replace(options, mix=_whole_mix(self._subject, options))
        self._chunk = chunk
        self.corrupted: Operation | None = None
        kind = options.corrupt
        if kind is not None and kind not in self._subject.corruptions:
            known = self._subject.corruptions
            raise CheckerInputError(
                f"--corrupt {kind}{nearest(kind, known)}: {options.model} has "
                f"{', '.join(known) or 'no kind of corruption'}"
            )

    @property
    def verdict(self) -> str:
        """The expected verdict on the whole history."""
        if self._options.corrupt is None:
            return "valid"
        kind = self._subject.corruptions[self._options.corrupt]
        return "invalid" if kind.is_guaranteed else "unknown"

    def __iter__(self) -> Iterator[pa.Table]:
        options = self._options
        timing, playing, spoiling = (
            np.random.Generator(np.random.PCG64(each))
            for each in np.random.SeedSequence(options.seed).spawn(3)
        )
        scheduler = Scheduler(options, timing)
        play = self._subject.begin(options, playing)
        made = 0
        for portions in portions_of(options, self._chunk):
            schedule = scheduler.schedule(portions)
            played = play.play(schedule)
            row = None
            if options.corrupt is not None and self.corrupted is None:
                row = played.corrupt(options.corrupt, spoiling)
            table = chunk_table(schedule, played.answers(), tuple(self._subject.mix), made)
            if row is not None:
                place = int((schedule.invoke < schedule.invoke[row]).sum())
                (self.corrupted,) = operations_of(table.slice(place, 1))
            made += len(table)
            yield table
        if options.corrupt is not None and self.corrupted is None:
            raise CheckerInputError(
                f"--corrupt {options.corrupt}: this history has no place for it;"
                " more operations, values or another seed may"
            )


def generated_table(options: GenerateOptions) -> pa.Table:
    """Return a history as one table of operations, in the order of their invocations."""
    return pa.concat_tables(_chunks(options))


def _whole_mix(subject: Subject, options: GenerateOptions) -> dict[str, float]:
    """Return the weight of every function of the subject."""
    if options.mix is None:
        return dict(subject.mix)
    for name, weight in options.mix.items():
        if name not in subject.mix:
            known = ", ".join(subject.mix)
            near = nearest(name, subject.mix)
            raise CheckerInputError(f"--mix {name}={weight:g}{near}: {subject.model} has {known}")
        if not 0 <= weight < float("inf"):
            raise CheckerInputError(f"--mix {name}={weight:g}: a weight of 0 or more is expected")
    if not any(options.mix.values()):
        raise CheckerInputError("--mix: a weight above 0 is expected")
    return {name: options.mix.get(name, 0.0) for name in subject.mix}


__all__ = ["Chunks", "GenerateOptions", "Generated", "generate", "generated_table"]
