"""How wide the search by returns is, and by what it judges, where it fails again and again.

For `checkers.engines.repeated.beam_search.beam_search`. How good a configuration looks is a guess,
and where the best of them by one guess all come to nothing, those by another may not. So a search
that fails at a return is begun anew some returns before with another taste, and only when it has
tried all of them with more room and farther back, until it is past that return. A portfolio:
Huberman, Lukose and Hogg, "An economics approach to hard computational problems" (1997).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from kraftproof.checkers.engines.repeated.layout import Ints

_APART: Final = 16
"""Returns between places to start again from."""
_FIRST_MOST: Final = 32
"""So many configurations of a return are kept at first, and again once it goes on."""
_WAITING: Final = ((0, 0, 0), (5, 10, 20), (10, 15, 40))
"""By taste, what a call costs that has no place yet, and finds a value of one register, or two, or
more: several values at once come less often."""


@dataclass(slots=True, kw_only=True)
class Effort:
    """How wide a search is, and how far back it begins.

    Attributes:
        fails: how often it failed since it was last past all returns where it did.
        furthest: the furthest of these.
    """

    fails: int = 0
    furthest: int = -1

    @property
    def most(self) -> int:
        """So many configurations of a return are kept."""
        return _FIRST_MOST << self.fails // len(_WAITING)

    @property
    def back(self) -> int:
        """So many places back it begins."""
        return 1 << self.fails // len(_WAITING)

    @property
    def is_wider(self) -> bool:
        """Whether no other taste was tried with so much room."""
        return self.fails % len(_WAITING) == 0

    def taste(self, registers: int) -> Ints:
        """Returns what a call costs that has no place, by how many registers it finds."""
        waiting: Sequence[int] = _WAITING[self.fails % len(_WAITING)]
        finds = range(registers + 1)
        return np.asarray([waiting[min(many, len(waiting)) - 1] if many else 0 for many in finds])

    def until(self, position: int) -> int:
        """Returns the next place to start again from."""
        return position + _APART

    def came_to(self, position: int) -> None:
        """Notes that something came so far."""
        if position > self.furthest + _APART:
            self.fails = 0

    def failed_at(self, position: int) -> None:
        """Notes that nothing passed a return."""
        self.furthest = max(self.furthest, position)
        self.fails += 1
