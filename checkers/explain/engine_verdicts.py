"""What a compiled engine finds of a sub-history, where it knows how to read one.

It is quick where the general engine is lost: a container whose elements are put once is decided in
O(n log n), however many takes were lost.
"""

from collections.abc import Hashable
from typing import Final

from checkers.columns import columns_of
from checkers.engines import choose
from checkers.explain.subhistory import Entry, SubHistory
from checkers.models import ColumnarModel, SequentialModel
from checkers.models.reducible import Change, HoldingModel
from checkers.options import Limits
from checkers.tables import operations_table
from checkers.verdict import Verdict

_LOST_TAKE: Final = Change(None, -1)


def engine_verdict(model: SequentialModel, sub: SubHistory, limits: Limits) -> Verdict:
    """Returns what an engine finds; unknown if it can't read it, or not all of it exactly.

    It is asked about the operations, so the calls that are left must be theirs. Where it reads one
    as what can do more, what it finds invalid is so, but what it finds valid may not be.
    """
    if not isinstance(model, ColumnarModel) or sub.starts != (model.init(),):
        return Verdict.UNKNOWN
    operations = [entry.operation for entry in sub.entries]
    read = model.calls(operations)
    if not all(_stands_for(model, call, one) for call, one in zip(read, sub.entries, strict=True)):
        return Verdict.UNKNOWN
    calls = model.calls_of(columns_of(operations_table(operations)))
    found = None if calls is None else next(iter(choose.decide(calls, limits)), None)
    if found is None:
        return Verdict.UNKNOWN
    is_exact = read == [one.call for one in sub.entries]
    return found.verdict if is_exact or found.verdict is Verdict.INVALID else Verdict.UNKNOWN


def _stands_for(model: SequentialModel, read: Hashable | None, entry: Entry) -> bool:
    """Says whether a call that was read is the one that is left, or can do all that this can.

    A take that need not have happened is read as one of which nobody knows what it took.
    """
    if read is None or read == entry.call or entry.is_required:
        return read == entry.call
    if not isinstance(model, HoldingModel):
        return False
    return model.change(read) == _LOST_TAKE and model.change(entry.call).by < 0
