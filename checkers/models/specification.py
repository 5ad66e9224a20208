"""The user's interface for a data type of their own: one class in one file.

A subclass of `Specification` needs a name, its functions, `init` and `step`; the general engine
then decides its histories. All else is a hint. `key` splits a history into independent histories.
`is_pure`, `normal_form` and `commutes` (`checkers.models`) let the search leave out what leads
nowhere new, and have to be right. `version` or `unique` propose an order that is replayed before
use; a wrong hint costs only time. docs/checkers.md has a worked example.
"""

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import ProposingModel, SequentialModel, unknown_function

FOREVER: Final = float("inf")
_PROBED: Final = 8
"""Number of calls with which `step` is tested for returning states."""


class Call:
    """An operation as an argument of `step`. Two are equal if all four attributes are.

    Attributes:
        f: the function.
        input: what was asked.
        output: the answer; None if unknown.
        status: "ok", or "info" for an operation that may have happened.
    """

    __slots__ = ("_identity", "f", "input", "output", "status")

    def __init__(self, operation: Operation) -> None:
        self.f = operation.f
        self.input = operation.input
        self.status = operation.status
        self.output = operation.output if operation.status == "ok" else None
        self._identity = (self.f, self.status, canonical(self.input), canonical(self.output))

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self._identity == other._identity

    @override
    def __hash__(self) -> int:
        return hash(self._identity)

    @override
    def __repr__(self) -> str:
        return " ".join(self._identity)


class Specification(SequentialModel, ProposingModel):
    """A sequential data type, defined by subclasses.

    A state is hashable and never None: a tuple, a frozenset, a string, a number.
    """

    name: str
    functions: frozenset[str]

    @override
    def init(self) -> Hashable:
        """Return the state before the first operation."""
        raise NotImplementedError

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        """Return the state after a `Call`; None if the call is illegal in the state.

        A call of status "info" has no answer: return its successor state if the call took effect.
        The result must depend on the arguments only.
        """
        raise NotImplementedError

    @override
    def validate(self, operation: Operation) -> None:
        """Raise ValueError, naming the field, for an operation whose values it can't read."""
        if operation.f not in self.functions:
            raise unknown_function(self, operation)

    @override
    def is_pure(self, call: Hashable) -> bool:
        """Return whether the call leaves every state as it is (a hint)."""
        return False

    def version(self, call: Call) -> int | None:
        """Return the number of the state that the call led to or, if pure, saw (a hint).

        Later states have greater numbers. None if unknown.
        """
        return None

    def unique(self, call: Call) -> Hashable | None:
        """Return a value that the call writes or reads and that is written only once (a hint).

        The value of a register that is never set to the same value again is such a thing.
        """
        return None

    @override
    def describe(self, state: Hashable) -> str:
        """Return the state in words."""
        return f"state {state}"

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        """Return the operations as arguments of `step`.

        None for pure operations without an answer.
        """
        made = [Call(operation) for operation in operations]
        self._require_states(made[:_PROBED])
        return [None if call.status != "ok" and self.is_pure(call) else call for call in made]

    def _require_states(self, calls: Iterable[Call]) -> None:
        """Raise TypeError if `step` says whether calls are legal, and not where they lead to.

        A state may be a boolean, but then the first one is: else every call would seem legal.
        """
        start = self.init()
        for call in () if isinstance(start, bool) else calls:
            with suppress(Exception):  # what the search won't ask for may be beyond `step`
                after = self.step(start, call)
                if isinstance(after, bool):
                    break
        else:
            return
        raise TypeError(
            f"step returned {after} for {call.f}, where a state is expected, or None: not legal"
        )

    @override
    def proposed(self, operations: Sequence[Operation]) -> Sequence[int] | None:
        """Return the operations in an order that is worth a try, by `version` or by `unique`."""
        calls = [Call(operation) for operation in operations]
        happened = [place for place, call in enumerate(calls) if call.status == "ok"]
        for hint in (self.version, self.unique):
            observed = {place: hint(calls[place]) for place in range(len(calls))}
            if happened and all(observed[place] is not None for place in happened):
                break
        else:
            return None
        needed = {observed[place] for place in happened}
        kept = [place for place in observed if operations[place].status != "fail"]
        kept = [place for place in kept if observed[place] in needed]
        turns = observed if hint == self.version else _turns(operations, kept, observed)
        return sorted(kept, key=lambda place: (turns[place], self.is_pure(calls[place]), place))


def _turns(
    operations: Sequence[Operation], kept: Iterable[int], observed: dict[int, Hashable]
) -> dict[int, tuple[float, str]]:
    """Return the position of each operation; operations on the same value are neighbours.

    As zones do (`checkers.engines.register.zones`): by the earliest completion or the latest
    invocation of those together, whichever is earlier.
    """
    first: dict[Hashable, float] = {}
    last: dict[Hashable, float] = {}
    for place in kept:
        operation, thing = operations[place], observed[place]
        done = operation.complete_index if operation.status == "ok" else None
        first[thing] = min(first.get(thing, FOREVER), FOREVER if done is None else done)
        last[thing] = max(last.get(thing, -1), operation.invoke_index)
    return {
        place: (min(first[observed[place]], last[observed[place]]), repr(observed[place]))
        for place in kept
    }
