"""Checks many histories in one Spark job: operations -> slots of keys -> verdicts -> findings.

The executors read and judge; only verdicts and findings come back. A history that can't be read is
refused, as by the inline engine, and the other histories are still checked.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from kraftproof.checkers.crash import ModelCrashError
from kraftproof.checkers.judge.assembly import CheckResult, assemble, unknown
from kraftproof.checkers.sources import Source
from kraftproof.checkers.spark.judging import Judged, judge
from kraftproof.checkers.spark.partitions import passes_java
from kraftproof.checkers.spark.session import job, session
from kraftproof.checkers.spark.staging import bytes_of, stage
from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.checkers.verdict import CheckerInputError, KeyVerdict, RunVerdict, Verdict

LOCAL_CHECK = "local[2]"
"""Small checks gain nothing beyond this number."""


def check_on_spark(
    sources: Sequence[Source],
    refuse: Callable[[CheckerInputError], None],
    report: Callable[[str], None] = lambda _: None,
    *,
    is_crash_raised: bool = False,
) -> Iterator[RunVerdict]:
    """Yield the verdict on each history, in the order given.

    Args:
        sources: what to check.
        refuse: receives each history that can't be read.
        report: takes a line of progress before each step.
        is_crash_raised: whether `refuse` also receives a run whose model crashed.

    Raises: CheckerInputError: Spark is not installed.
    """
    with temporary_directory("kraftproof-check-") as folder:
        through_java = sum(map(bytes_of, filter(passes_java, sources)))
        spark = session(LOCAL_CHECK, through_java, report)
        try:
            with job(spark):
                report(f"Spark's first job reads the histories ({len(sources)})")
                staged = stage(spark, folder, sources)
                report("Spark judges the keys")
                done = judge(spark, staged)
                keys, results = _collected(done)
        except Exception as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
            yield from (_crashed(source, error) for source in sources)
            return
    problems = {**staged.problems, **done.problems}
    for run in sorted(problems.keys() | done.staged.sources.keys()):
        problem, source = problems.get(run), done.staged.sources.get(run, sources[int(run)])
        if problem is None:
            seconds = sum(key.seconds for key in keys[run])
            yield assemble(source, keys[run], results[run], done.tallies[run], seconds)
        elif isinstance(problem, ModelCrashError) and not is_crash_raised:
            yield unknown(source, str(problem))
        else:
            refuse(problem)


def _crashed(source: Source, error: Exception) -> RunVerdict:
    first = (str(error).strip().splitlines() or [""])[0]
    return RunVerdict(
        history=source.label,
        model=source.model_name,
        verdict=Verdict.UNKNOWN,
        seconds=0.0,
        operations=0,
        notes=(f"the Spark job failed: {type(error).__name__}: {first}",),
    )


def _collected(
    done: Judged,
) -> tuple[dict[str, list[KeyVerdict]], dict[str, list[CheckResult]]]:
    """Return, by run, the verdicts on its keys and the results of its run checks."""
    keys: dict[str, list[KeyVerdict]] = {run: [] for run in done.staged.plans}
    results: dict[str, list[CheckResult]] = {run: [] for run in done.staged.plans}
    for row in done.keys.drop("problem").collect():
        fields = row.asDict(recursive=True)
        keys[fields.pop("run")].append(msgspec.convert(fields, KeyVerdict))
    for row in done.checks.collect():
        fields = row.asDict(recursive=True)
        results[fields.pop("run")].append(msgspec.convert(fields, CheckResult))
    return keys, results
