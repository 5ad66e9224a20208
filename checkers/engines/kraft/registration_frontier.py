"""The configurations of a sweep over a broker id (`checkers.engines.kraft.registration_sweep`).

Of two configurations with the same placed updates and the same state, the first *covers* the second
if it has answered all calls that the second has and used no more indeterminate calls of any kind.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from typing_extensions import override

from kraftproof.checkers.engines.kraft.registration_indeterminate import IndeterminateCalls
from kraftproof.checkers.engines.kraft.registration_open import ANYBODY, State

_FEW: Final = 2


class Step(NamedTuple):
    """A placed update.

    Attributes:
        before: The update placed before it.
        returning: The call before whose completion it was placed.
        number: The call, -1 for an indeterminate call.
        kind: The kind of an indeterminate call.
    """

    before: "Step | None"
    returning: int
    number: int
    kind: int = ANYBODY


class Configuration(NamedTuple):
    """A way to place the completed calls.

    Attributes:
        placed: The bits of the open updates that changed the state.
        state: The state of the controller.
        answered: The bits of the open calls that were placed and changed nothing.
        used: The number of indeterminate calls of each kind that took effect.
        steps: The last update.
    """

    placed: int
    state: State
    answered: int
    used: int
    steps: Step | None


class Frontier:
    """Configurations without a covered one.

    Attributes:
        size: The number of configurations.
    """

    def __init__(self, indeterminate: IndeterminateCalls) -> None:
        """Begin with none."""
        self._indeterminate = indeterminate
        self._kept: dict[tuple[int, State], list[Configuration]] = {}
        self.size = 0

    def __iter__(self) -> Iterator[Configuration]:
        """Iterates over them."""
        return chain.from_iterable(self._kept.values())

    def add(self, new: Configuration) -> bool:
        """Add a configuration unless another covers it; return whether it was added."""
        others = self._kept.get(new[:2])
        if others is None:
            self._kept[new[:2]] = [new]
            self.size += 1
            return True
        _, _, answered, used, _ = new
        is_no_more = self._indeterminate.is_no_more
        for _, _, other_answered, other_used, _ in others:
            if not answered & ~other_answered and is_no_more(other_used, used):
                return False
        left = [one for one in others if one[2] & ~answered or not is_no_more(used, one[3])]
        self.size += 1 + len(left) - len(others)
        others[:] = [*left, new]
        return True


class NarrowFrontier(Frontier):
    """The best two configurations for each state and set of placed updates.

    The first has the most indeterminate calls left; the second, of the rest, has answered the most.
    """

    @override
    def add(self, new: Configuration) -> bool:
        if not super().add(new):
            return False
        others = self._kept[new[:2]]
        if len(others) > _FEW:
            others.sort(
                key=lambda one: (self._indeterminate.scarcity(one.used), -one.answered.bit_count())
            )
            others[1:] = [max(others[1:], key=lambda one: one.answered.bit_count())]
            self.size -= 1
        return any(one is new for one in others)
