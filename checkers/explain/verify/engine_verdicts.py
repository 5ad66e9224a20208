"""Asks a compiled engine for the verdict on a sub-history, if the engine can read the sub-history.

The engine is quick where the general engine is hopeless: a container whose elements are put once is
decided in O(n log n), even with many indeterminate takes.
"""

from collections.abc import Sequence

import msgspec

from kraftproof.checkers.engines import registry
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.models import ColumnarModel, SequentialModel
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict


def engine_verdict(model: SequentialModel, sub: SubHistory, limits: Limits) -> Verdict:
    """Return the verdict of an engine; unknown if the engine cannot read the sub-history.

    The engine reads operations, so the remaining calls must be calls of whole operations. An
    optional call with a known answer is read as a call that completes after all others; an open
    call may have taken effect by any completion, with the answer of its own completion. So the
    sub-history is valid if the first illegal operation is such an optional call.
    """
    if not isinstance(model, ColumnarModel) or sub.starts != (model.init(),):
        return Verdict.UNKNOWN
    operations = _readable(model, sub)
    calls = None if operations is None else model.calls_of(columns_of(operations_table(operations)))
    found = None if calls is None else next(iter(registry.decide(calls, limits)), None)
    if found is None or operations is None:
        return Verdict.UNKNOWN
    if found.first_illegal_row is None or sub.entries[found.first_illegal_row].is_required:
        return found.verdict
    return Verdict.UNKNOWN if found.linearizable is None else Verdict.VALID


def _readable(model: SequentialModel, sub: SubHistory) -> Sequence[Operation] | None:
    """Return operations that the model reads as the remaining calls; None if no operations do."""
    operations = [entry.operation for entry in sub.entries]
    end = max((_last_event(one) for one in operations), default=0)
    for place, (read, entry) in enumerate(zip(model.calls(operations), sub.entries, strict=True)):
        if read != entry.call:
            end += 1
            late = msgspec.structs.replace(entry.operation, status="ok", complete_index=end)
            if entry.is_required or not _is_answer(model, late):
                return None
            operations[place] = late
    return operations if model.calls(operations) == [one.call for one in sub.entries] else None


def _is_answer(model: SequentialModel, operation: Operation) -> bool:
    """Return whether an operation has an answer; an indeterminate operation has no known answer."""
    try:
        model.validate(operation)
    except ValueError:
        return False
    return True


def _last_event(operation: Operation) -> int:
    return max(operation.invoke_index, operation.complete_index or 0)
