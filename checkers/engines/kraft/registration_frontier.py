"""The configurations of a sweep over one broker id (`checkers.engines.kraft.registration_sweep`).

Of two with the same updates placed and the same state, one *can do all that the other can* if it
has answered all that the other has, and used no more indeterminate calls of any kind.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from typing_extensions import override

from kraftproof.checkers.engines.kraft.registration_indeterminate import LostCalls
from kraftproof.checkers.engines.kraft.registration_open import ANYBODY, State

_FEW: Final = 2


class Step(NamedTuple):
    """An update that was placed.

    Attributes:
        before: the update placed before it.
        returning: the call before whose completion it was placed.
        number: which call, -1 if it is any lost one of a kind.
        kind: which kind, if so.
    """

    before: "Step | None"
    returning: int
    number: int
    kind: int = ANYBODY


class Configuration(NamedTuple):
    """One way to place what was completed.

    Attributes:
        placed: the bits of the open updates that changed the state.
        state: what the controller holds.
        answered: the bits of the open calls that have their place and changed nothing.
        used: how many indeterminate calls of each kind took effect.
        steps: the last update.
    """

    placed: int
    state: State
    answered: int
    used: int
    steps: Step | None


class Frontier:
    """Configurations of which none can do all that another can.

    Attributes:
        size: how many.
    """

    def __init__(self, lost: LostCalls) -> None:
        """Begin with none."""
        self._lost = lost
        self._kept: dict[tuple[int, State], list[Configuration]] = {}
        self.size = 0

    def __iter__(self) -> Iterator[Configuration]:
        """Iterates over them."""
        return chain.from_iterable(self._kept.values())

    def add(self, new: Configuration) -> bool:
        """Keep a configuration, and return whether no other can do all that it can."""
        others = self._kept.get(new[:2])
        if others is None:
            self._kept[new[:2]] = [new]
            self.size += 1
            return True
        _, _, answered, used, _ = new
        is_no_more = self._lost.is_no_more
        for _, _, other_answered, other_used, _ in others:
            if not answered & ~other_answered and is_no_more(other_used, used):
                return False
        left = [one for one in others if one[2] & ~answered or not is_no_more(used, one[3])]
        self.size += 1 + len(left) - len(others)
        others[:] = [*left, new]
        return True


class NarrowFrontier(Frontier):
    """Of those with the same updates placed and the same state, two of the best.

    The one that has most indeterminate calls left, and of the others the one that has answered
    most.
    """

    @override
    def add(self, new: Configuration) -> bool:
        if not super().add(new):
            return False
        others = self._kept[new[:2]]
        if len(others) > _FEW:
            others.sort(key=lambda one: (self._lost.scarcity(one.used), -one.answered.bit_count()))
            others[1:] = [max(others[1:], key=lambda one: one.answered.bit_count())]
            self.size -= 1
        return any(one is new for one in others)
