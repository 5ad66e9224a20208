"""Indeterminate calls on a broker id by kind, and the uses of each kind, as an integer.

Indeterminate calls of a kind are equal and have no deadline: only their number matters. Each kind
has a field of an integer, so that a single subtraction compares all kinds: no field borrows from
the next, since its highest bit is spare.
"""

from collections.abc import Callable
from typing import Final

from typing_extensions import override

from kraftproof.checkers.engines.kraft.registration_open import ANYBODY

ENDS: Final = -2
"""The kind of lost unregistrations; that of a registration is its incarnation, or ANYBODY."""

_WIDTH: Final = 32
_FIELD: Final = (1 << _WIDTH) - 1


class IndeterminateCalls:
    """How many calls of each kind were invoked by now.

    Attributes:
        kinds: the kinds, each with where its field begins.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.kinds: dict[int, int] = {}
        self._free: list[int] = []
        self._made = 0
        self._invoked = 0
        self._spare = 0

    def add(self, kind: int, count: int = 1) -> None:
        """Count calls that were invoked."""
        if kind not in self.kinds:
            if not self._free:
                self._free.append(self._made * _WIDTH)
                self._made += 1
                self._spare |= 1 << (self._made * _WIDTH - 1)
            self.kinds[kind] = self._free.pop()
        self._invoked += count << self.kinds[kind]

    def left(self, used: int) -> list[int]:
        """Return the kinds of which not all took effect."""
        left = self._invoked - used
        return [kind for kind, place in self.kinds.items() if left >> place & _FIELD]

    def with_one_more(self, used: int, kind: int) -> int:
        """Return the numbers of used calls after another call of a kind."""
        return used + (1 << self.kinds[kind])

    def scarcity(self, used: int) -> float:
        """Return how little is left of the kinds: of each 1 if nothing, less if more."""
        left = self._invoked - used
        return sum(1 / (1 + (left >> place & _FIELD)) for place in self.kinds.values())

    def is_no_more(self, used: int, other: int) -> bool:
        """Return whether no more took effect of any kind than in the other."""
        return ((other | self._spare) - used) & self._spare == self._spare

    def forget(self, kind: int) -> Callable[[int], int]:
        """Make a kind of registrations one with ANYBODY; return what maps numbers to the new."""
        place = self.kinds.pop(kind)
        count = self._invoked >> place & _FIELD
        self._invoked -= count << place
        self._free.append(place)
        self.add(ANYBODY, count)
        target = self.kinds[ANYBODY]

        def mapped(used: int) -> int:
            own = used >> place & _FIELD
            return used - (own << place) + (own << target)

        return mapped


class RelaxedCalls(IndeterminateCalls):
    """Indeterminate calls that take effect without limit, so that no use is recorded."""

    @override
    def with_one_more(self, used: int, kind: int) -> int:
        return used
