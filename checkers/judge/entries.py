"""The calls of one key with their operations, as refutation and explanations read a history."""

from collections.abc import Hashable, Iterable, Sequence
from math import inf
from typing import NamedTuple

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel


class Entry(NamedTuple):
    """A call with its operation; one that is not ok may have taken effect, at any later time."""

    operation: Operation
    call: Hashable

    @property
    def is_required(self) -> bool:
        """Return whether it surely took effect, before its completion."""
        return self.operation.status == "ok"


def entries_of(model: SequentialModel, operations: Sequence[Operation]) -> tuple[Entry, ...]:
    """Return the calls that did not fail and constrain something, in the order of invocation.

    The calls are those of the whole history: an answer may tell what an earlier call did.
    """
    happened = sorted(
        (operation for operation in operations if operation.status != "fail"),
        key=lambda operation: operation.invoke_index,
    )
    called = zip(happened, model.calls(happened), strict=True)
    return tuple(Entry(operation, call) for operation, call in called if call is not None)


def without_optional_pure(model: SequentialModel, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries without the pure ones that need not have happened."""
    return tuple(one for one in entries if one.is_required or not model.is_pure(one.call))


def begin_of(entry: Entry) -> int:
    """Return the event of the invocation."""
    return entry.operation.invoke_index


def end_of(entry: Entry) -> float:
    """Return the event by which the call surely took effect; infinite if it need not have."""
    end = entry.operation.complete_index
    return inf if end is None or not entry.is_required else end
