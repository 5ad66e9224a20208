"""The lock: acquire, release; initially free.

The model does not record the holder: a release by another process is legal, two acquisitions in a
row are illegal.
"""

from collections.abc import Hashable, Sequence

from typing_extensions import override

from kraftproof.checkers.calls.mutex import MutexCalls, mutex_calls
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.reasons import end_of, is_over, may_count
from kraftproof.checkers.models.reducible import ReducibleModel
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.text import as_json


class Mutex(ReducibleModel):
    """A lock that is free or held."""

    name = "mutex"
    functions = frozenset({"acquire", "release"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)

    def calls_of(self, columns: Columns) -> MutexCalls:
        """Return the calls on all locks."""
        return mutex_calls(columns, self.name, self.functions)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the acquisition of a lock that is held at first."""
        if value not in {"free", "held"}:
            raise ValueError(f'a mutex starts "free" or "held", not {as_json(value)}')
        return [("acquire", None, None)] if value == "held" else []

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return the operation that surely held the lock during another acquisition."""
        if wrong.f != "acquire":
            return None
        freed = [one for one in operations if one.f == "release" and may_count(one, wrong)]
        last = max(map(end_of, freed), default=-1)
        holders = [one for one in operations if one.f == "acquire" and is_over(one, wrong)]
        holder = next((one for one in holders if one.invoke_index > last), None)
        if holder is None:
            return None
        who = f"process {holder.process} had acquired it (operation {holder.index})"
        if holder.index < 0:
            who = "it was held at first"
        return f"{who} and no release had begun since"

    @override
    def init(self) -> Hashable:
        return "free"

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [operation.f for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        if call == "acquire":
            return "held" if state == "free" else None
        return "free" if state == "held" else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        return False

    @override
    def alternates_with(self, call: Hashable) -> Hashable:
        return "release" if call == "acquire" else "acquire"

    @override
    def describe(self, state: Hashable) -> str:
        return str(state)
