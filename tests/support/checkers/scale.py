"""Large histories whose verdict is known by construction, for every engine that takes them.

A valid history must be valid for each engine; one with a wrong answer must be invalid, and where
the wrong answer is a read's, at that very operation: before it completes all is as it was. What an
engine leaves undecided within its limits counts as undecided, never as agreement.
`python -m tests.support.checkers.scale` runs the large ones.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import Chunks
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import Columns, columns_of
from kraftproof.checkers.models import ColumnarModel, SequentialModel, model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from tests.support.checkers.engines import ENGINES
from tests.support.checkers.scale_cases import LARGE, SMALL, Case

READS = frozenset({"read", "get", "contains", "lookup", "heartbeat"})
"""Functions without an effect: with a wrong answer, they are where the engine has to get stuck."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one engine said of one history; `wrong` is None if all is well."""

    told: str
    seconds: float
    wrong: str | None
    is_undecided: bool = False


def run(case: Case) -> Iterator[Finding]:
    """Decides a case's valid history and all its corrupted twins with each of its engines."""
    for kind in (None, *SUBJECTS[case.options.model].corruptions):
        chunks = Chunks(replace(case.options, corrupt=kind))
        try:
            columns = columns_of(pa.concat_tables(chunks))
        except CheckerInputError:
            continue  # no place for that kind in this history
        decided = {}
        for engine in case.engines:
            started = time.process_time()
            outcomes = decide(case, columns, engine)
            decided[engine] = outcomes
            yield Finding(
                told=f"{case.told}, {kind or 'valid'}: {engine}",
                seconds=time.process_time() - started,
                wrong=mistake(columns, outcomes, kind, chunks),
                is_undecided=any(o.verdict is Verdict.UNKNOWN for o in outcomes),
            )
        yield from disputes(case, kind, decided)


def decide(case: Case, columns: Columns, engine: str) -> list[Outcome]:
    """What an engine says of each key; rows are those of the columns."""
    model = model_named(case.options.model)
    limits = Limits(seconds=case.seconds)
    assert isinstance(model, SequentialModel)
    search = partial(by_search, model, columns, limits)
    if engine == "general":
        return [search(key) for key in range(len(columns.keys))]
    assert isinstance(model, ColumnarModel)
    calls = model.calls_of(columns)
    assert calls is not None
    family = ENGINES[engine]
    return [outcome or search(key) for key, outcome in enumerate(family(calls, limits))]


def by_search(model: SequentialModel, columns: Columns, limits: Limits, key: int) -> Outcome:
    operations = columns.operations(key)
    found = check_linearizable(model, operations, limits).among(operations)
    return found.within(-int(columns.starts[key]))


def mistake(
    columns: Columns, outcomes: Sequence[Outcome], kind: str | None, chunks: Chunks
) -> str | None:
    """What is wrong with the outcomes of all keys, None if nothing."""
    corrupted = chunks.corrupted
    for key, outcome in zip(columns.keys, outcomes, strict=True):
        if corrupted is None or key != corrupted.key:
            if outcome.verdict is Verdict.INVALID:
                return f"false alarm on key {key}, row {outcome.first_illegal_row}"
        elif chunks.verdict == "invalid" and outcome.verdict is Verdict.VALID:
            return f"missed operation {corrupted.index} of key {key}"
        elif outcome.first_illegal_row is not None and kind not in {"any", "swapped-reads"}:
            first_illegal = columns.operation(outcome.first_illegal_row)
            if corrupted.f in READS and first_illegal.index != corrupted.index:
                return f"named operation {first_illegal.index}, not {corrupted.index}, of key {key}"
    return None


def disputes(case: Case, kind: str | None, decided: dict[str, list[Outcome]]) -> Iterator[Finding]:
    """Engines that decide a key otherwise, or at another operation."""
    first, *others = decided
    for other in others:
        for key, (one, two) in enumerate(zip(decided[first], decided[other], strict=True)):
            if Verdict.UNKNOWN in {one.verdict, two.verdict}:
                continue
            is_exact = None not in {one.linearizable, two.linearizable}
            ours, theirs = (
                (o.verdict, *([o.first_illegal_row, o.linearizable] if is_exact else []))
                for o in (one, two)
            )
            if ours != theirs:
                told = f"{case.told}, {kind or 'valid'}: {first} and {other}"
                yield Finding(told=told, seconds=0, wrong=f"key {key}: {ours} and {theirs}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Every engine on large histories of known verdict."
    )
    parser.add_argument("--small", action="store_true", help="those of make test")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    chosen = SMALL if options.small else LARGE
    wrong = undecided = 0
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for findings in pool.imap_unordered(_run_all, chosen):
            for finding in findings:
                wrong += finding.wrong is not None
                undecided += finding.is_undecided
                state = finding.wrong or ("undecided" if finding.is_undecided else "right")
                print(f"{finding.seconds:8.2f} s  {finding.told}: {state}", flush=True)
    print(f"{wrong} wrong, {undecided} undecided")
    return 1 if wrong else 0


def _run_all(case: Case) -> list[Finding]:
    return list(run(case))


if __name__ == "__main__":
    sys.exit(main())
