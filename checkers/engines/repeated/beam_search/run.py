"""The beam search for an order of a prefix, wider and from farther back after each failure.

If no configuration passes a return, `checkers.engines.repeated.beam_search.refute` may show that
none can; otherwise the search restarts some returns earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.effort import Effort
from kraftproof.checkers.engines.repeated.beam_search.checkpoints import Place, restore, saved
from kraftproof.checkers.engines.repeated.beam_search.configurations import DROPPED
from kraftproof.checkers.engines.repeated.beam_search.refute import Refuter
from kraftproof.checkers.engines.repeated.beam_search.sweep import (
    POSITION,
    WORK,
    Search,
    bytes_of,
    new_search,
    positions,
    sweep,
)
from kraftproof.checkers.engines.repeated.layout import Ints, Layout
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

_APART: Final = 16
"""Number of completions between checkpoints."""
_FIRST_MOST: Final = 32
"""Number of configurations kept at first, and again once the search is past its failures."""
_WAITING: Final = ((0, 0, 0), (5, 10, 20), (10, 15, 40))
"""For each heuristic, the cost of an open call without a place, by the number of registers of which
it finds a value (one, two, or more): several values at once come less often."""
_MOST_MOST: Final = 1 << 13
_PLACES: Final = 64
"""So many places to start again from are kept, besides the beginning."""
_DEPTH: Final = 7
"""The number of updates tried to use a done call after configurations were dropped: about the
number from which its values are usually made; with fewer, returns fail that some order passes."""
_WIDER: Final = 16
"""The factor by which a refutation may keep more configurations."""
_WORK_A_SECOND: Final = 30_000_000
"""So few steps on any machine; the cost of a key is counted, not timed."""


class UndecidedError(Exception):
    """A decision exceeds the limits of a key; the text names the limit."""


@dataclass(slots=True, kw_only=True)
class Run:
    """The search for an order of a prefix.

    Attributes:
        layout: The calls.
        cut: The last event of the prefix.
        limits: The key's limits.
        refuter: Shows that no order passes a return; None if an order is known to exist.
        spent: The work done so far, other prefixes included.
        is_logged: Whether the caller asks for the order.
        places: The checkpoints: the beginning and the last ones, or all if the search is logged.
        legal: The last event of the longest prefix found legal.
        illegal: The last event of a prefix known to be illegal, NEVER otherwise.
    """

    layout: Layout
    cut: int
    limits: Limits
    refuter: Refuter | None
    spent: int = 0
    is_logged: bool = False
    places: list[Place] = field(default_factory=list)
    legal: int = -1
    illegal: int = NEVER

    def first_illegal(self) -> int | None:
        """Return the event by which probably no order exists, None if the prefix has an order.

        Raises:
            UndecidedError: The search found no order and no refutation.
        """
        end = positions(self.layout, self.cut)
        effort = Effort(
            first=_FIRST_MOST, most=2 * _MOST_MOST, attempts=len(_WAITING), apart=_APART
        )
        capacity = effort.width
        search = new_search(self.layout, capacity, is_logged=self.is_logged)
        self.places = [saved(search, is_exact=True)]
        while self.places[-1].position < end:
            if self._go_on(search, effort, end):
                effort.came_to(self.places[-1].position)
                continue
            first_illegal = int(search.at[POSITION])
            event = int(self.layout.complete[self.layout.returning[first_illegal]])
            self.legal = max(self.legal, event - 1)
            if self._is_exact(search):
                return event
            is_new = first_illegal >= effort.furthest and effort.attempt == 0
            if is_new and self._is_refuted(first_illegal, _WIDER * effort.width):
                return self.illegal
            effort.failed_at(first_illegal)
            self._refuse_capacity(effort.width)
            if effort.width > capacity:
                capacity = effort.width
                search = new_search(self.layout, capacity, is_logged=self.is_logged)
            del self.places[max(1, len(self.places) - effort.back) :]
        return None

    def _go_on(self, search: Search, effort: Effort, end: int) -> bool:
        """Go on from the last place; return whether anything came to the next."""
        last = self.places[-1]
        restore(search, last)
        search.here.waiting_costs[:] = _costs(effort.attempt, len(self.layout.initial))
        depth = NEVER if last.is_exact else _DEPTH
        before = int(search.at[WORK])
        until = min(end, last.position + _APART)
        work = int(self.limits.seconds * _WORK_A_SECOND)
        is_there = sweep(
            self.layout, search, effort.width, until, self.cut, depth, before + work - self.spent
        )
        self.spent += int(search.at[WORK]) - before
        if self.spent >= work:
            raise UndecidedError(f"no verdict within {work} steps of a search")
        if is_there:
            self.places.append(saved(search, is_exact=self._is_exact(search)))
            if not self.is_logged:
                del self.places[1:-_PLACES]
        return is_there

    def _is_refuted(self, position: int, most: int) -> bool:
        """Return whether a return is known to be impassable, perhaps this return."""
        if self.refuter is None:
            return False
        before = self.refuter.spent
        shown = self.refuter.shown(position, self.cut, min(most, _MOST_MOST))
        self.spent += self.refuter.spent - before
        self.illegal = self.illegal if shown is None else shown
        return shown is not None

    def _refuse_capacity(self, most: int) -> None:
        """Raise UndecidedError where so many configurations of a return are too many."""
        if most > _MOST_MOST:
            said = f"no legal order found among the best {_MOST_MOST} configurations of each return"
            raise UndecidedError(said)
        if bytes_of(self.layout, most) > self.limits.memory_bytes // 2:
            raise UndecidedError(f"no verdict within {self.limits.memory_bytes} bytes")

    def _is_exact(self, search: Search) -> bool:
        """Return whether only covered configurations were dropped."""
        dropped = search.here.at[DROPPED] + search.there.at[DROPPED]
        return self.places[-1].is_exact and not dropped


def _costs(heuristic: int, registers: int) -> Ints:
    """Return the cost of a call that has no place, by the number of registers that it finds."""
    waiting: Sequence[int] = _WAITING[heuristic]
    finds = range(registers + 1)
    return np.asarray([waiting[min(many, len(waiting)) - 1] if many else 0 for many in finds])
