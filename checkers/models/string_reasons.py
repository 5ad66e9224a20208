"""Explains why a get cannot have found a string, for strings with puts and appends.

See `checkers.models.kv_append` for the model, which decides; every sentence here is certain.
"""

from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.reasons import end_of, is_over, may_count
from kraftproof.checkers.text import as_json

_MOST_CUT: Final = 1_000_000
"""Pieces times characters, at most, that are compared to cut an answer into pieces."""


def string_reason(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why a key can't have held the string that a get answered; None if not plain."""
    if wrong.f != "get":
        return None
    answer = wrong.output if isinstance(wrong.output, str) else ""
    able = [one for one in operations if one.f != "get" and may_count(one, wrong)]
    puts = [one for one in able if one.f == "put"]
    last = next((one for one in puts if is_over(one, wrong) and _is_last(one, puts)), None)
    if last is not None and not answer.startswith(str(last.input)):
        done = f"{phrase(last)} had completed before it began and no other put came since"
        return f"{done}, but the answer does not begin with that"
    if last is not None or not puts:
        since = -1 if last is None else end_of(last)
        for one in able:
            is_there = one.f == "append" and one.invoke_index > since and is_over(one, wrong)
            if is_there and str(one.input) not in answer:
                return f"{phrase(one)} had completed before it began and is not in the answer"
    return _foreign(answer, {str(one.input) for one in able} - {""})


def _is_last(put: Operation, puts: Sequence[Operation]) -> bool:
    """Return whether all other puts surely completed before a put began."""
    return all(one is put or end_of(one) < put.invoke_index for one in puts)


def _foreign(answer: str, pieces: set[str]) -> str | None:
    """Return the end of an answer that no written string matches."""
    if len(answer) * len(pieces) > _MOST_CUT:
        return None
    reached = {0}
    for start in range(len(answer)):
        if start in reached:
            reached |= {start + len(one) for one in pieces if answer.startswith(one, start)}
    if len(answer) in reached:
        return None
    return f"no string written by then continues with {as_json(answer[max(reached) :])}"
