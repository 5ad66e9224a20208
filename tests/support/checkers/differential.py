"""Every engine against the reference that tries every order, on batches of small histories.

A batch is a case and a seed: BATCH histories, which are the keys of one history for the compiled
engines. `python -m tests.support.checkers.differential` runs as many as are asked for on all
cores, and ends non-zero at the first disagreements, each with its seed and its history.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of, operations_table
from kraftproof.checkers.models import ColumnarModel, SequentialModel, model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from tests.support.checkers import reference
from tests.support.checkers.cases import CASES, LENIENT, model_of
from tests.support.checkers.engines import ENGINES, of_calls
from tests.support.checkers.random_histories import random_history

BATCH = 100
LIMITS = Limits(seconds=60)
GENERATED_EVERY = 10
"""Each tenth batch is of the generator's histories, corrupted in every way it knows."""
SIZES = (*range(1, 9), *range(1, 9), 12, 18)
"""How many operations a random history has; most are so few that one can read a disagreement."""
SHOWN = 5

History = list[Operation]


@dataclass
class Tally:
    """What was compared: engines' verdicts by (case, engine, verdict), and what went wrong."""

    compared: Counter = field(default_factory=Counter)
    histories: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.compared += other.compared
        self.histories += other.histories
        self.wrong += other.wrong


def run_batch(case: str, seed: int) -> Tally:
    """Compares all engines on the histories of one batch."""
    apply, _ = CASES[case]
    model = model_named(model_of(case))
    assert isinstance(model, SequentialModel)
    histories = batch(case, seed)
    tally = Tally(histories=len(histories))
    compiled = compiled_outcomes(model, histories)
    for place, history in enumerate(histories):
        truth = reference.find_first_illegal(apply, history)
        is_lenient = case in LENIENT and has_lost(history)
        for outcome in (general_outcome(model, history), *compiled[place]):
            tally.compared[case, outcome.engine, outcome.verdict.value] += 1
            what = disagreement(outcome, history, truth, is_lenient=is_lenient)
            if what is not None:
                tally.wrong.append(told(case, seed, place, outcome, what, history))
    return tally


def batch(case: str, seed: int) -> list[History]:
    """The histories of a batch."""
    if seed % GENERATED_EVERY == 0 and case in SUBJECTS:
        return list(generated(case, seed))
    apply, draw = CASES[case]
    random = Random(f"{case} {seed}")
    return [
        random_history(random, draw, apply, random.choice(SIZES), random.randrange(1, 7))
        for _ in range(BATCH)
    ]


def generated(case: str, seed: int) -> Iterator[History]:
    """Small histories of the generator: valid, and with a wrong answer of each kind."""
    random = Random(seed)
    kinds = [None, *SUBJECTS[case].corruptions]
    for number in range(BATCH // 4):
        options = GenerateOptions(
            model=case,
            operations=random.randrange(4, 13),
            concurrency=random.randrange(1, 5),
            values=random.choice([None, 2, 4]),
            indeterminate=random.choice([0.0, 0.1, 0.3]),
            failed=random.choice([0.0, 0.1]),
            corrupt=kinds[number % len(kinds)],
            seed=seed * BATCH + number,
        )
        try:
            (table,) = Chunks(options)
        except CheckerInputError:
            continue  # too short for that kind
        yield operations_of(table)


def general_outcome(model: SequentialModel, history: History) -> Outcome:
    return check_linearizable(model, history, LIMITS).among(history)


def compiled_outcomes(model: SequentialModel, histories: Sequence[History]) -> list[list[Outcome]]:
    """What the compiled engines say of each history, if the model has any: rows count within it."""
    none: list[list[Outcome]] = [[] for _ in histories]
    if not isinstance(model, ColumnarModel):
        return none
    columns = columns_of(operations_table(as_keys(histories)))
    calls = model.calls_of(columns)
    if calls is None:
        return none
    decided = [ENGINES[engine](calls, LIMITS) for engine in of_calls(calls)]
    starts = columns.starts.tolist()
    return [
        [outcome.within(start) for outcome in outcomes if outcome is not None]
        for start, outcomes in zip(starts, zip(*decided, strict=True), strict=False)
    ]


def as_keys(histories: Sequence[History]) -> Iterator[Operation]:
    for place, history in enumerate(histories):
        for operation in history:
            yield msgspec.structs.replace(operation, key=f"{place:06}")


def disagreement(
    outcome: Outcome, history: History, truth: Operation | None, *, is_lenient: bool
) -> str | None:
    """What is wrong with an outcome, None if nothing."""
    if outcome.verdict is Verdict.UNKNOWN:
        return f"unknown: {outcome.reason}"
    if outcome.verdict is Verdict.VALID:
        return None if truth is None or is_lenient else f"missed: operation {truth.index}"
    assert outcome.first_illegal_row is not None
    first_illegal = history[outcome.first_illegal_row]
    if truth is None:
        return f"false alarm: operation {first_illegal.index}"
    is_later = (first_illegal.complete_index or 0) > (truth.complete_index or 0)
    may_be_later = is_lenient or outcome.linearizable is None
    if first_illegal == truth or (may_be_later and is_later):
        return None
    return f"named operation {first_illegal.index}, not {truth.index}"


def has_lost(history: History) -> bool:
    return any(o.f in {"create", "register"} and o.status == "info" for o in history)


def told(case: str, seed: int, place: int, outcome: Outcome, what: str, history: History) -> str:
    """A disagreement with all it takes to see it again."""
    again = f"python -m tests.support.checkers.differential --case {case} --seed {seed}"
    lines = [msgspec.json.encode(operation).decode() for operation in history]
    head = f"{case}, seed {seed}, history {place}, engine {outcome.engine}: {what}"
    return "\n".join([head, *lines, f"again: {again}"])


def run_all(jobs: Sequence[tuple[str, int]], processes: int) -> Tally:
    """Runs batches on several processes and tells how far it is."""
    total, started, due = Tally(), time.monotonic(), 0.05
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for done, tally in enumerate(pool.imap_unordered(_run_job, jobs, chunksize=4), start=1):
            total.add(tally)
            if done >= due * len(jobs) or tally.wrong:
                due = done / len(jobs) + 0.05
                spent = time.monotonic() - started
                print(
                    f"{done}/{len(jobs)} batches, {total.histories} histories, {spent:.0f} s,"
                    f" {len(total.wrong)} wrong",
                    flush=True,
                )
            if len(total.wrong) >= SHOWN:
                break
    return total


def _run_job(job: tuple[str, int]) -> Tally:
    return run_batch(*job)


def main() -> int:
    parser = argparse.ArgumentParser(description="Every engine against trying every order.")
    parser.add_argument("--histories", type=int, default=10_000, help="in all, over all cases")
    parser.add_argument("--start", type=int, default=1, help="the first seed of each case")
    parser.add_argument("--case", choices=sorted(CASES), help="one case only")
    parser.add_argument("--seed", type=int, help="one batch only, of --case")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    cases = sorted(CASES) if options.case is None else [options.case]
    seeds = range(options.start, options.start + -(-options.histories // BATCH // len(cases)))
    if options.seed is not None:
        seeds = range(options.seed, options.seed + 1)
    print(f"seeds {seeds.start} to {seeds.stop - 1} of {', '.join(cases)}")
    jobs = [(case, seed) for seed in seeds for case in cases]
    total = run_all(jobs, min(options.processes, len(jobs)))
    for wrong in total.wrong[:SHOWN]:
        print(f"\n{wrong}")
    for (case, engine, verdict), count in sorted(total.compared.items()):
        print(f"{case:<22}{engine:<22}{verdict:<9}{count:>9}")
    print(f"{total.histories} histories, {len(total.wrong)} wrong")
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
