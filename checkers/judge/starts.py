"""Judges an invalid key again with other initial values, if its history does not exclude them.

A model such as multi-register takes one initial value of each register from the history. Another
value may be possible, too; then the key is invalid only if the key is invalid with each of them.
"""

from collections.abc import Callable
from itertools import islice
from typing import Final

import msgspec

from kraftproof.checkers.history.columns import Columns, columns_of
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.initial import starting_operations
from kraftproof.checkers.models import Model
from kraftproof.checkers.models.starting import UncertainModel
from kraftproof.checkers.verdict import KeyVerdict, Verdict

MOST_STARTS: Final = 15
"""Maximum number of further combinations of initial values that are judged for a key."""
Judge = Callable[[Columns], list[KeyVerdict]]


def judge_other_starts(
    model: Model, columns: Columns, verdicts: list[KeyVerdict], judge: Judge
) -> list[KeyVerdict]:
    """Return the verdicts, with the verdict of another start for each key that may have one.

    Args:
        model: the model of the history.
        columns: the operations of all keys.
        verdicts: the verdicts by key, for the initial values that the model takes.
        judge: judges the operations of a key.
    """
    if not isinstance(model, UncertainModel):
        return verdicts
    return [
        _judged_again(model, columns, key, verdict, judge)
        if verdict.verdict is Verdict.INVALID
        else verdict
        for key, verdict in enumerate(verdicts)
    ]


def _judged_again(
    model: UncertainModel, columns: Columns, key: int, verdict: KeyVerdict, judge: Judge
) -> KeyVerdict:
    operations = columns.operations(key)
    starts = model.other_starts(operations)
    for start in islice(starts, MOST_STARTS):
        steps = [(verdict.key, step) for step in model.starting_with(start)]
        table = operations_table([*starting_operations(steps), *operations])
        (other,) = judge(columns_of(table))
        if other.verdict is not Verdict.INVALID:
            return msgspec.structs.replace(other, operations=verdict.operations)
    if next(starts, None) is None:
        return verdict
    return msgspec.structs.replace(
        verdict,
        verdict=Verdict.UNKNOWN,
        findings=(),
        reason="the history does not tell the initial values: state them with --initial",
    )
