"""Measure the short histories that start the compilation of an engine, with the cost of each.

A line for each history on standard output: model, shape, operations, processor seconds, whether a
kernel was compiled, the verdict and the engine's reason. Each history is judged in a process of its
own, without numba at first and with an empty folder for compiled code: `python -m
bench.short_histories`. With `--to-the-end` compilations run; else the process ends at the first.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from kraftproof.checkers import compiling
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import CheckerInputError

OPERATIONS: Final = (100, 500, 2_000, 5_000)
SHAPES: Final[dict[str, dict[str, object]]] = {
    "usual": {},
    "repeated": {"values": 2},
    "crowded": {"concurrency": 20},
    "unanswered": {"indeterminate": 0.05},
    "unique": {"values": None},
}
"""By name: the options of the generator in which a history differs from the usual."""


class Judged(NamedTuple):
    """The judgement of one history."""

    seconds: float
    is_compiled: bool
    verdict: str


class _CompilationError(BaseException):
    """A kernel would be compiled now."""


def cases(models: Sequence[str]) -> Iterator[tuple[str, GenerateOptions]]:
    """Yield the name of a shape and the options of a history, for each model and size."""
    for model in models:
        corruptions = sorted(set(SUBJECTS[model].corruptions) - {"any"})
        for operations in OPERATIONS:
            for shape, changed in SHAPES.items():
                options = {"model": model, "operations": operations, **changed}
                yield shape, GenerateOptions(**options)  # type: ignore[arg-type]
            for corruption in corruptions:
                for values in (5, None):
                    yield (
                        f"{corruption}, {'unique' if values is None else 'repeated'}",
                        GenerateOptions(
                            model=model, operations=operations, values=values, corrupt=corruption
                        ),
                    )


def judged(options: GenerateOptions, *, is_to_the_end: bool, limit: float) -> Judged | None:
    """Return the judgement of one history in a process of its own; None if it was too late."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_judge, args=(options, is_to_the_end, theirs)
    )
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(limit) else None
    finally:
        process.kill()
        process.join()


def _judge(options: GenerateOptions, is_to_the_end: bool, answer: Connection) -> None:  # noqa: FBT001
    columns = columns_of(generated_table(options))
    begun = time.process_time()
    with tempfile.TemporaryDirectory(prefix="kraftproof-kernels-") as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        starts: list[object] = []
        _watch(starts, is_to_the_end=is_to_the_end)
        try:
            (verdict,) = judge_columns(model_named(options.model), columns, CheckOptions())
            told = f"{verdict.verdict.value} {verdict.reason or ''}"
        except _CompilationError:
            told = "?"
        answer.send(Judged(time.process_time() - begun, bool(starts), told))


def _watch(starts: list[object], *, is_to_the_end: bool) -> None:
    """Have each compilation noted, and the first end the judgement unless it runs to the end."""
    begins = compiling.compiling

    def noted() -> object:
        starts.append(None)
        if not is_to_the_end:
            raise _CompilationError
        return begins()

    compiling.compiling = noted  # type: ignore[assignment]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="append", choices=sorted(SUBJECTS), help="default: all")
    parser.add_argument("--to-the-end", action="store_true", help="compile, and judge")
    parser.add_argument("--limit", type=float, default=120, help="wall-clock seconds a history")
    options = parser.parse_args()
    compiled = count = 0
    for shape, wanted in cases(options.model or sorted(SUBJECTS)):
        try:
            generated_table(wanted)
        except CheckerInputError:
            continue  # the history has no place for the corruption
        found = judged(wanted, is_to_the_end=options.to_the_end, limit=options.limit)
        count += 1
        if found is None:
            print(f"{wanted.model:20}{shape:24}{wanted.operations:6}  late", flush=True)
            continue
        compiled += found.is_compiled
        is_compiled = "compiled" if found.is_compiled else "plain"
        told = f"{found.seconds:8.2f} s  {is_compiled:10}{found.verdict}"
        print(f"{wanted.model:20}{shape:24}{wanted.operations:6}{told}", flush=True)
    print(f"{count} histories, {compiled} compiled")


if __name__ == "__main__":
    main()
