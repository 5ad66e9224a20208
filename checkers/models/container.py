"""The common part of queues, stacks and priority queues: an element comes out once, after its put.

A container is empty at first. A take answers an element, or null for an empty container. Each
element put once, a container goes to the compiled engine of its kind; one with repeated elements is
searched. Not a model by itself: the order in which elements come out is each kind's own.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from typing_extensions import override

from kraftproof.checkers.calls.containers import (
    ContainerCalls,
    container_call,
    container_calls,
    require_element,
)
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.listing import listed
from kraftproof.checkers.models.reasons import Elements
from kraftproof.checkers.models.reducible import ByElement, Change, HoldingModel
from kraftproof.checkers.models.starting import Step, require_list


class Container(ByElement, HoldingModel):
    """A container; its state is a tuple of the elements in it, arranged as the kind says.

    Attributes: put: the function that inserts its input.
        take: the function that removes an element and answers the element.
        kind: the calls by which the compiled engine is chosen.
        next_out: the place in the state of the element that comes out next.
        is_fifo: whether the container is first-in-first-out.
    """

    name: ClassVar[str]
    put: ClassVar[str]
    take: ClassVar[str]
    kind: ClassVar[type[ContainerCalls]]
    next_out: ClassVar[int] = 0
    is_fifo: ClassVar[bool] = False

    @property
    @override
    def functions(self) -> frozenset[str]:
        return frozenset({self.put, self.take})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == self.put:
            require_element(operation.input, self.put)

    def calls_of(self, columns: Columns) -> ContainerCalls:
        """Return the columnar calls of all containers of this kind."""
        return container_calls(self.kind, columns, model=self.name, put=self.put, take=self.take)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the puts of the elements that the container holds at first, in their order."""
        elements = require_list(value, f"a {self.name} starts with a list of elements")
        for element in elements:
            require_element(element, self.put)
        return [(self.put, element, None) for element in elements]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why a take cannot have had its answer."""
        elements = Elements(put=self.put, take=self.take, is_fifo=self.is_fifo)
        return elements.reason(operations, wrong)

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [self.call(operation) for operation in operations]

    def call(self, operation: Operation) -> Hashable:
        """Return (the action, the element if known)."""
        return container_call(operation, self.take)

    def holding(self, state: tuple[Hashable, ...], element: Hashable) -> tuple[Hashable, ...]:
        """Return the state with another element."""
        return (*state, element)

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        action, element = call
        if action == "put":
            return self.holding(state, element)
        if action == "found none":
            return None if state else state
        left = state[1:] if self.next_out == 0 else state[:-1]
        if element is None:
            return left
        return left if state and state[self.next_out] == element else None

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        taken = {call[1] for call in calls if isinstance(call, tuple) and call[0] == "take"}
        is_for_good = None not in taken  # nor is anything behind it ever taken

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, tuple)
            if not is_for_good:
                return tuple(
                    one if isinstance(one, _Left) or one in taken else _Left([one]) for one in state
                )
            outwards = state if self.next_out == 0 else state[::-1]
            for place, one in enumerate(outwards):
                if one not in taken:
                    front, back = outwards[:place], outwards[place:]
                    if self.next_out == 0:
                        return (*front, _Left(_apart(back)))
                    return (_Left(_apart(back[::-1])), *front[::-1])
            return state

        return normal

    @override
    def change(self, call: Hashable) -> Change:
        assert isinstance(call, tuple)
        return Change(call[1], {"put": 1, "take": -1, "found none": 0}[call[0]])

    def most_changes(
        self,
        call: Hashable,
        starts: Sequence[Hashable],
        may: Sequence[Hashable],
        must: Sequence[Hashable],
    ) -> int | None:
        """Return how many elements remain for indeterminate takes after all other takes."""
        if call != ("take", None):
            return None
        put = Counter(one[1] for one in (*may, *must) if isinstance(one, tuple) and one[0] == "put")
        taken = Counter(one[1] for one in must if isinstance(one, tuple) and one[0] == "take")
        inside = (Counter(_apart(one)) for one in starts if isinstance(one, tuple))
        return max(((one + put) - taken).total() for one in inside)

    def done(self, state: Hashable, call: Hashable) -> Hashable:
        """Return an indeterminate take as a take of its element."""
        assert isinstance(state, tuple)
        return ("take", state[self.next_out]) if call == ("take", None) and state else call

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "found none")

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        return f"{self.name.replace('-', ' ')} [{listed(_apart(state))}]"


class _Left:
    """Elements that no call of a history takes; all groups of such elements are equal.

    Attributes: elements: the elements, for descriptions.
    """

    __slots__ = ("elements",)

    def __init__(self, elements: Sequence[Hashable]) -> None:
        self.elements = tuple(elements)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Left)

    @override
    def __hash__(self) -> int:
        return 0


def _apart(elements: Sequence[Hashable]) -> list[Hashable]:
    """Return the elements, with the groups of never-taken elements expanded."""
    return [
        one for each in elements for one in (each.elements if isinstance(each, _Left) else (each,))
    ]
