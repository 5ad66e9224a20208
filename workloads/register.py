"""Registers that are read, written, and compared and set by many at once.

A register a key, null at first. `read` answers the value, `write` sets a value, and `cas` sets the
second of [old, new] where the register holds the first. The model is `cas-register`.
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Completion, Outcome, Value

READ_SHARE = 0.5
WRITE_SHARE = 0.3


@dataclass(slots=True, kw_only=True)
class _Register:
    """State of the workload for a key."""

    values: FreshValues
    seen: Value = None
    """The last value that a client read or set."""


class Register(KeyedWorkload[_Register]):
    """Registers are read, written, and compared and set, some by several clients at once."""

    name: ClassVar[str] = "register"
    model: ClassVar[str] = "cas-register"

    @override
    def state(self, values: FreshValues) -> _Register:
        return _Register(values=values)

    @override
    def draw(self, random: Random, state: _Register) -> tuple[str, Value]:
        chance = random.random()
        if chance < READ_SHARE:
            return "read", None
        if chance < READ_SHARE + WRITE_SHARE:
            return "write", state.values.take()
        return "cas", [state.seen, state.values.take()]

    @override
    def learn(self, state: _Register, f: str, value: Value, completion: Completion) -> None:
        """Note the value of a successful operation: a cas of an old value would always fail."""
        if completion.outcome is not Outcome.OK:
            return
        if f == "read":
            state.seen = completion.value
        else:
            state.seen = value if f == "write" else value[1]
