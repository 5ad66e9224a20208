"""Judges keys for the inline engine and for Spark: an engine first, then the model's properties.

Without an engine for the model's calls, the general engine decides. A crash leaves a key unknown.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from typing_extensions import override

from kraftproof.checkers.crash import reraise_interrupt
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.findings import fact_of
from kraftproof.checkers.history.columns import OK, Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows
from kraftproof.checkers.judge.first_pass import or_refuted, outcomes_of, read, searched
from kraftproof.checkers.judge.processes import map_in_order
from kraftproof.checkers.judge.reasons import reason_of
from kraftproof.checkers.judge.rows import judge_rows, located_verdict, unknown_verdict
from kraftproof.checkers.judge.starts import judge_other_starts
from kraftproof.checkers.models import (
    ColumnarModel,
    Model,
    PropertyModel,
    SequentialModel,
    TableModel,
    model_named,
    reference_to,
)
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import (
    Finding,
    FindingKind,
    KeyVerdict,
    Verdict,
    verdict_of_findings,
    worst,
)

_MOST_SEARCHED: Final = 2_000  # operations of a key in the search for the first illegal one
_SHARE: Final = 0.1  # of a key's limits, for that search
_MOST_REASONED: Final = 100_000  # operations of a key in the search for a reason, at most


def judge_columns(model: Model, columns: Columns, options: CheckOptions) -> list[KeyVerdict]:
    """Return the verdict on each key of a history, by key.

    A key without a successful operation proves nothing: the key is marked, and never valid.

    Raises:
        ValueError: the model can't read a value; the message names the field, not the line.
    """
    is_stated = np.zeros(len(columns), dtype=np.bool_)
    if options.initial is not None:
        is_stated = columns.column("index").to_numpy() < 0
    verdicts = _judge_columns(model, columns, options)
    if options.initial is None:
        verdicts = judge_other_starts(
            model, columns, verdicts, lambda one: _judge_columns(model, one, options)
        )
    succeeded = _count(columns, (columns.status == OK) & ~is_stated)
    judged = [
        verdict if some else _vacuous(verdict)
        for verdict, some in zip(verdicts, succeeded, strict=True)
    ]
    return [
        msgspec.structs.replace(verdict, operations=verdict.operations - stated)
        for verdict, stated in zip(judged, _count(columns, is_stated), strict=True)
    ]


def _count(columns: Columns, chosen: NDArray[np.bool_]) -> list[int]:
    """Return how many of the chosen rows each key has."""
    counts: list[int] = np.diff(np.concatenate(([0], np.cumsum(chosen)))[columns.starts]).tolist()
    return counts


def _vacuous(verdict: KeyVerdict) -> KeyVerdict:
    """Return the verdict on a key on which no operation succeeded."""
    if verdict.verdict is not Verdict.VALID:
        return msgspec.structs.replace(verdict, is_vacuous=True)
    return msgspec.structs.replace(verdict, verdict=Verdict.UNKNOWN, is_vacuous=True)


def _judge_columns(model: Model, columns: Columns, options: CheckOptions) -> list[KeyVerdict]:
    every_key = range(len(columns.keys))
    if isinstance(model, TableModel):
        return [judge_rows(model, columns, key, options) for key in every_key]
    if not isinstance(model, ColumnarModel):
        return _judge_generally(model, columns, every_key, options)
    started = time.monotonic()
    try:
        given = read(model, columns)
    except ValueError:
        raise
    except BaseException as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        reraise_interrupt(error)
        return [_crashed(model, columns, key, error) for key in every_key]
    if given is None:
        return _judge_generally(model, columns, every_key, options)
    try:
        outcomes = outcomes_of(model, columns, given, options)
    except BaseException as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        reraise_interrupt(error)
        return [_crashed(model, columns, key, error) for key in every_key]
    share = (time.monotonic() - started) / max(len(columns), 1)
    left = [key for key, outcome in enumerate(outcomes) if outcome is None]
    generally = dict(zip(left, _judge_generally(model, columns, left, options), strict=True))
    short = [key for key, outcome in enumerate(outcomes) if _lacks_first(columns, key, outcome)]
    soon = msgspec.structs.replace(options, limits=_share(options.limits))
    generally |= zip(short, _judge_generally(model, columns, short, soon), strict=True)
    verdicts = []
    for key, outcome in enumerate(outcomes):
        verdict = generally.get(key)
        if outcome is not None and (verdict is None or verdict.verdict is Verdict.UNKNOWN):
            verdict = _key_verdict(model, columns, key, outcome, share, options)
        assert verdict is not None, "what has no outcome is left to the general engine"
        verdicts.append(verdict)
    return verdicts


def judge_key(
    model: Model, key: str, operations: Sequence[Operation], options: CheckOptions
) -> KeyVerdict:
    """Return the verdict on one key's operations, given in the order of their invocations."""
    started = time.monotonic()
    try:
        outcome, first_illegal = None, None
        if isinstance(model, SequentialModel):
            outcome = or_refuted(model, searched(model, operations, options.limits), operations)
            row = outcome.first_illegal_row
            first_illegal = None if row is None else operations[row]
        found = model.check(key, operations, options) if isinstance(model, PropertyModel) else []
        verdict = _verdict(model, key, len(operations), outcome, first_illegal, found, operations)
        verdict = located_verdict(verdict, operations, options)
    except BaseException as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        reraise_interrupt(error)
        verdict = unknown_verdict(model, key, len(operations), error)
    return msgspec.structs.replace(verdict, seconds=time.monotonic() - started)


def _lacks_first(columns: Columns, key: int, outcome: Outcome | None) -> bool:
    """Return whether the general engine is asked for the first illegal completion of a key.

    The general engine is likely to decide a short key, and quickly.
    """
    if outcome is None or outcome.linearizable is not None:
        return False
    return _size(columns, key) <= _MOST_SEARCHED


def _share(limits: Limits) -> Limits:
    return msgspec.structs.replace(limits, seconds=limits.seconds * _SHARE)


def _judge_generally(
    model: Model, columns: Columns, keys: Sequence[int], options: CheckOptions
) -> list[KeyVerdict]:
    """Return the verdict on each of the given keys, one by one.

    Raises:
        ValueError: the model can't read a value.
    """
    if not keys:
        return []
    judged = map_in_order(
        _KeyJudge(model, options),
        keys,
        lambda key: (columns.keys[key], columns.rows_of(key)),
        options.processes if reference_to(model) else 1,
    )
    return [
        _crashed(model, columns, key, found) if isinstance(found, BrokenExecutor) else found
        for key, found in zip(keys, judged, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _KeyJudge:
    """Judges the rows of one key, here or, known by the model's reference, in another process."""

    model: Model
    options: CheckOptions

    def __call__(self, key_and_rows: tuple[str, pa.Table]) -> KeyVerdict:
        key, rows = key_and_rows
        operations = list(iterate_rows(rows))
        try:
            for operation in operations:
                self.model.validate(operation)
        except ValueError:
            raise
        except BaseException as error:  # noqa: BLE001 a crashed checker is unknown
            reraise_interrupt(error)
            return unknown_verdict(self.model, key, len(operations), error)
        return judge_key(self.model, key, operations, self.options)

    @override
    def __reduce__(self) -> tuple[Callable[..., "_KeyJudge"], tuple[str | None, CheckOptions]]:
        return _key_judge, (reference_to(self.model), self.options)


def _key_judge(reference: str, options: CheckOptions) -> _KeyJudge:
    return _KeyJudge(model_named(reference), options)


def _key_verdict(
    model: Model, columns: Columns, key: int, outcome: Outcome, share: float, options: CheckOptions
) -> KeyVerdict:
    """Return the verdict of an outcome; `share` is the average seconds of an operation."""
    count = _size(columns, key)
    try:
        if outcome.verdict is Verdict.UNKNOWN and isinstance(model, SequentialModel):
            outcome = or_refuted(model, outcome, columns.operations(key))
            outcome = outcome.within(-int(columns.starts[key]))
        row = outcome.first_illegal_row
        first_illegal = None if row is None else columns.operation(row)
        found: list[Finding] = []
        operations: list[Operation] | None = None
        if isinstance(model, PropertyModel):
            operations = columns.operations(key)
            found = model.check(columns.keys[key], operations, options)
        elif first_illegal is not None and count <= _MOST_REASONED:
            operations = columns.operations(key)
        verdict = _verdict(
            model, columns.keys[key], count, outcome, first_illegal, found, operations
        )
        known = operations or ([] if first_illegal is None else [first_illegal])
        verdict = located_verdict(verdict, known, options)
    except BaseException as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        reraise_interrupt(error)
        verdict = _crashed(model, columns, key, error)
    return msgspec.structs.replace(verdict, seconds=share * count)


def _verdict(
    model: Model,
    key: str,
    operations: int,
    outcome: Outcome | None,
    first_illegal: Operation | None,
    found: Sequence[Finding],
    known: Sequence[Operation] | None,
) -> KeyVerdict:
    findings = list(found)
    if outcome is not None and first_illegal is not None:
        findings.insert(0, _not_linearizable(model, key, outcome, first_illegal, known))
    decided = Verdict.VALID if outcome is None else outcome.verdict
    return KeyVerdict(
        key=key,
        model=model.name,
        verdict=worst([decided, verdict_of_findings(findings)]),
        operations=operations,
        findings=tuple(findings),
        reason=None if outcome is None else outcome.reason,
    )


def _crashed(model: Model, columns: Columns, key: int, error: BaseException) -> KeyVerdict:
    return unknown_verdict(model, columns.keys[key], _size(columns, key), error)


def _size(columns: Columns, key: int) -> int:
    return int(columns.starts[key + 1] - columns.starts[key])


def _not_linearizable(
    model: Model,
    key: str,
    outcome: Outcome,
    first_illegal: Operation,
    operations: Sequence[Operation] | None,
) -> Finding:
    fact = fact_of(first_illegal)
    return Finding(
        check=f"{model.name}/linearizable",
        kind=FindingKind.SAFETY,
        key=key,
        operation_index=first_illegal.index,
        is_first=outcome.linearizable is not None,
        fact=fact,
        sentence=fact,
        reason=reason_of(model, operations, first_illegal, outcome),
    )
