"""Measure a row: all sides check the same histories in turns.

Repetitions are paired: in each, every side checks once, the order rotating. Each side's first check
gives its memory; ours is not timed, for it loads compiled code, those of the peers are. What a side
can't do within the limits it is asked once.
"""

import random
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.checkers.histories import ROOT, Row
from bench.checkers.peers import Side
from bench.checkers.processes import Checked, ExceededError, Limits, Worker, whole_output

OURS: Final = "kraftproof"
REPETITIONS: Final = 15
REPETITIONS_IF_LONG: Final = 5
LONG_S: Final = 10.0
WHOLE_REPETITIONS: Final = 3
_RESAMPLES: Final = 10_000
_UPPER: Final = 0.95


@dataclass(slots=True)
class Result:
    """The result of a side on a row.

    Attributes:
        alone: seconds of each check alone, one a repetition.
        whole: seconds of each whole command.
        first: the first check; None without a completed check.
        failure: why it made none: ? after the time, OOM beyond the memory, or what it said.
        grown_bytes: the peak of its memory above what it had before, until then.
    """

    alone: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    first: Checked | None = None
    failure: str | None = None
    grown_bytes: int = 0

    def described(self, files: int) -> str:
        """Returns the verdict in words, on so many histories."""
        if self.first is None:
            return str(self.failure)
        counts = (
            (self.first.invalid, "invalid"),
            (self.first.unknown, "unknown"),
            (files - self.first.invalid - self.first.unknown, "valid"),
        )
        if files == 1:
            return next(word for count, word in counts if count)
        return ", ".join(f"{count} {word}" for count, word in counts if count)


Results = dict[str, Result]
"""One row, by side."""


def measure(
    row: Row,
    sides: Sequence[Side],
    cache: Path,
    limits: Limits,
    repetitions: int | None,
    say: Callable[[str], None],
) -> Results:
    """Measures one row.

    Raises:
        BenchError: its histories can't be made.
    """
    say(f"{row.name}: histories")
    files = [str(path) for path in row.files(cache)]
    results: Results = {side.name: Result() for side in sides}
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for side in sides:
            say(f"{row.name}: {side.name}, first check")
            worker = _first(side, row, files, limits, results[side.name])
            if worker is not None:
                workers[side.name] = worker
                stack.push(worker)
        _repeat(row, workers, results, repetitions, say)
    for side in sides:
        if results[side.name].failure is None:
            say(f"{row.name}: {side.name}, whole commands")
            _whole(side, row, files, limits, results[side.name], repetitions)
    return results


def _first(
    side: Side, row: Row, files: Sequence[str], limits: Limits, result: Result
) -> Worker | None:
    """Start a side and run the first check; return None after a failure."""
    worker = Worker([*side.worker, row.model, *files], ROOT, limits)
    try:
        worker.__enter__()
        result.first = worker.check(is_first=side.name == OURS)
    except ExceededError as error:
        result.failure, result.grown_bytes = str(error), error.grown_bytes
        return None
    result.grown_bytes = result.first.grown_bytes
    if side.name != OURS and result.first.seconds > LONG_S:
        result.alone.append(result.first.seconds)
    return worker


def _repeat(
    row: Row,
    workers: dict[str, Worker],
    results: Results,
    repetitions: int | None,
    say: Callable[[str], None],
) -> None:
    if not workers:
        return
    # Our own first check is none of them: it may have compiled.
    firsts = [results[name].first for name in workers if name != OURS]
    is_long = any(first is not None and first.seconds > LONG_S for first in firsts)
    wanted = repetitions or (REPETITIONS_IF_LONG if is_long else REPETITIONS)
    for turn in range(wanted):
        say(f"{row.name}: {turn + 1} of {wanted}")
        names = [*workers]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if len(results[name].alone) > turn or results[name].failure is not None:
                continue
            try:
                results[name].alone.append(workers[name].check().seconds)
            except ExceededError as error:
                results[name].failure = str(error)


def _whole(
    side: Side,
    row: Row,
    files: Sequence[str],
    limits: Limits,
    result: Result,
    repetitions: int | None,
) -> None:
    wanted = min(repetitions or WHOLE_REPETITIONS, WHOLE_REPETITIONS)
    if side.name != OURS and result.first is not None and result.first.seconds > LONG_S:
        wanted = 1
    while len(result.whole) < wanted:
        try:
            command = [*side.whole, row.model, *files]
            seconds, _ = whole_output(command, ROOT, limits, side.codes)
        except ExceededError:
            return
        result.whole.append(seconds)


def median_and_upper(values: Sequence[float]) -> tuple[float, float]:
    """Returns the median, and the 95 % upper bound of it by bootstrap (seeded)."""
    chance = random.Random(0)
    medians = sorted(
        statistics.median(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES)
    )
    return statistics.median(values), medians[int(_UPPER * _RESAMPLES)]


def ratio_and_upper(ours: Result, theirs: Result, limits: Limits) -> tuple[float, float] | None:
    """Returns the median of ours to theirs, repetition by repetition, and its upper bound.

    Where they have no verdict within the time, the time stands for theirs, which is less than it
    would take. The result is None without a comparison.
    """
    if not ours.alone:
        return None
    if theirs.failure == "?":
        return median_and_upper([seconds / limits.seconds for seconds in ours.alone])
    if not theirs.alone:
        return None
    pairs = zip(ours.alone, theirs.alone, strict=False)
    return median_and_upper([mine / other for mine, other in pairs])
