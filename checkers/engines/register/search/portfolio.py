"""Registers with repeated values: a portfolio of depth-first search and two frontiers.

The problem is NP-complete (Gibbons and Korach, "Testing shared memories", 1997). The depth-first
search finds the order of most valid histories at once, however many calls are indeterminate, and
never answers "invalid". The first frontier is exact, and small while few indeterminate calls
matter. The second frontier is relaxed: it covers only the last returns before the furthest position
of the depth-first search, and refutes the key if it gets no further. All keys first get a small
budget of the first two searches; open keys then get all three in turn, with budgets that double,
until one decides or a limit is reached. If the open calls of a key fit into machine words,
`checkers.engines.register.search.bitmask_dfs` replaces `depth_first` at first, and later runs
beside it. Budgets count work, not time, so that a history gets the same verdict from the same
engine; the clock only ends the search.

Memory: the layout (about 45 bytes a call), the alternatives of the depth-first search (at most
65,536), and the frontiers, bounded by `checkers.engines.register.search.frontier` and by the limit.
"""

import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import RegisterCalls, since
from kraftproof.checkers.engines.register.search import depth_first, frontier
from kraftproof.checkers.engines.register.search.bitmask_dfs import Search, new_search, search_keys
from kraftproof.checkers.engines.register.search.bitmasks import that_fit
from kraftproof.checkers.engines.register.search.cas_paths import Workspace, new_workspace
from kraftproof.checkers.engines.register.search.configurations import columns_of
from kraftproof.checkers.engines.register.search.depth_first import new_descent
from kraftproof.checkers.engines.register.search.frontier import enlarged, new_frontier
from kraftproof.checkers.engines.register.search.frontier_outcome import outcome_of
from kraftproof.checkers.engines.register.search.layout import CALL, RANKS, Layout, lay_out
from kraftproof.checkers.engines.register.search.overwritten import is_overwritten
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_FIRST_DESCENT: Final = -8
"""Minus the work a return of the first depth-first search; about 3 if it never turns back."""
_QUICK_WORK: Final = -8
"""Minus the work a return of the quick search; about 1 if it never turns back."""
_FIRST_SWEEP: Final = 20_000
_FIRST_SHARE: Final = 200_000
_FIRST_RETURNS: Final = 128
"""How many returns before the furthest one a relaxed frontier starts at first."""
_FEWEST_RETURNS: Final = 4
_SLICE: Final = 50_000
"""Work after which the clock is looked at: some ten milliseconds."""
_ENDS: Final = 8
_CAPACITY: Final = 512
_DESCENT_CAPACITY: Final = 1024
_MOST_DESCENT_CAPACITY: Final = 1 << 16
_MOST_SUCCESSORS: Final = 1 << 13
"""Of one configuration: each is compared with all of them, and no clock is looked at meanwhile."""


def decide(calls: RegisterCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each key."""
    started = time.monotonic()
    layout = lay_out(calls)
    keys = np.arange(len(calls.starts) - 1, dtype=np.int64)
    found = _descend_first(layout, keys)
    is_open = found[:, 0] != depth_first.VALID
    open_keys, descended = keys[is_open], found[is_open]
    valid = Outcome(verdict=Verdict.VALID, engine="depth-first")
    outcomes = dict.fromkeys(keys.tolist(), valid)
    swept = _sweep(layout, open_keys)
    spent = (time.monotonic() - started) / max(1, len(keys))
    for key, row, reached in zip(open_keys.tolist(), swept, descended, strict=True):
        outcome = outcome_of(calls, layout, key, row)
        outcomes[key] = outcome or _Portfolio(calls, layout, key, limits, spent).run(reached)
    return [outcomes[key] for key in sorted(outcomes)]


def _descend_first(layout: Layout, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Search keys depth first, in machine words if they fit; return what it finds."""
    found = np.zeros((len(keys), 3), np.int64)
    fits = that_fit(layout)[keys]
    some = np.zeros((int(fits.sum()), 3), np.int64)
    search = new_search(layout, keys[fits])
    search_keys(layout, keys[fits], search, _QUICK_WORK, False, some)  # noqa: FBT003 a kernel
    found[fits] = some
    found[~fits] = _descend(layout, keys[~fits], _FIRST_DESCENT, _DESCENT_CAPACITY)
    return found


def _descend(layout: Layout, keys: NDArray[np.int64], work: int, rows: int) -> NDArray[np.int64]:
    """Search keys depth first, with work as told there; return what it finds."""
    found = np.zeros((len(keys), 3), np.int64)
    if len(keys):
        columns = columns_of(layout.counts[keys], _ENDS)
        descent = new_descent(columns, _ranks(layout, keys), rows)
        workspace = _workspace(layout, keys, columns)
        depth_first.descend(
            layout, keys, _ENDS, descent, workspace, work, is_resumed=False, found=found
        )
    return found


def _sweep(layout: Layout, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sweep keys with a small frontier; return what `frontier.sweep` finds."""
    found = np.zeros((len(keys), 6), np.int64)
    if len(keys):
        columns = columns_of(layout.counts[keys], _ENDS)
        some = new_frontier(columns, _ranks(layout, keys), _CAPACITY)
        workspace = _workspace(layout, keys, columns)
        frontier.sweep(
            *(layout, keys, _ENDS, some, workspace, _FIRST_SWEEP),
            is_resumed=False,
            is_relaxed=False,
            found=found,
        )
    return found


def _ranks(layout: Layout, keys: NDArray[np.int64]) -> int:
    return int(layout.counts[keys, RANKS].max())


def _workspace(layout: Layout, keys: NDArray[np.int64], columns: int) -> Workspace:
    return new_workspace(columns, int(np.diff(layout.value_starts)[keys].max()), _CAPACITY)


class _Portfolio:
    """The portfolio for a single key.

    The third search is a relaxed frontier over the last returns before the furthest position of the
    depth-first search. It starts with more than is possible then: with any value; open writes are
    free, open compare-and-sets may or may not have happened, reads were answered, and indeterminate
    calls are never used up. If even so no order passes the furthest position, none does, and the
    depth-first search has shown that some order gets there.
    """

    def __init__(
        self, calls: RegisterCalls, layout: Layout, key: int, limits: Limits, spent: float
    ) -> None:
        self._calls = calls
        self._layout = layout
        self._key = key
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds - spent
        self._exact = _Swept(layout, key, limits.memory_bytes // 2, is_relaxed=False)
        self._quick: Search | None = None

    def run(self, reached: NDArray[np.int64]) -> Outcome:
        """Return the outcome; `reached` is what a first depth-first search found."""
        share, capacity, returns = _FIRST_SHARE, _DESCENT_CAPACITY, _FIRST_RETURNS
        while True:
            outcome = self._refute_any(reached, returns, share) or self._told(
                self._exact.go_on(share, self._deadline)
            )
            if outcome is not None:
                return outcome
            found = self._descend_quickly(share)
            if found[0] != depth_first.VALID:
                found = self._descend(share, capacity, chance=share)
            if found[0] == depth_first.VALID:
                return Outcome(verdict=Verdict.VALID, engine="depth-first")
            if found[1] > reached[1]:
                reached = found
            if self._is_late():
                return self._unknown(f"no verdict within {self._limits.seconds:g} s")
            if self._fits(2 * capacity):
                capacity *= 2
            elif self._exact.is_too_large:
                return self._unknown(f"no verdict within {self._limits.memory_bytes} bytes")
            share, returns = 2 * share, 2 * returns

    def _fits(self, capacity: int) -> bool:
        """Return whether a depth-first search may have so much capacity."""
        a_row = 8 * (columns_of(self._layout.counts[[self._key]], _ENDS) + 16)
        most = min(_MOST_DESCENT_CAPACITY, self._limits.memory_bytes // 4 // a_row)
        return capacity <= most

    def _descend_quickly(self, share: int) -> NDArray[np.int64]:
        """Go on with the quick search, if the key fits it; return what it finds."""
        keys, found = np.array([self._key]), np.zeros((1, 3), np.int64)
        if not that_fit(self._layout)[self._key]:
            return found.ravel()
        is_resumed = self._quick is not None
        search = self._quick = self._quick or new_search(self._layout, keys)
        while found[0, 0] == depth_first.RUNNING and share > 0 and not self._is_late():
            search_keys(self._layout, keys, search, _SLICE, is_resumed, found)
            is_resumed, share = True, share - _SLICE
        return found.ravel()

    def _is_late(self) -> bool:
        return time.monotonic() >= self._deadline

    def _descend(self, share: int, capacity: int, chance: int) -> NDArray[np.int64]:
        """Search depth first from the beginning, another way each time; return what it finds."""
        keys = np.array([self._key])
        found = np.full((1, 3), depth_first.RUNNING)
        columns = columns_of(self._layout.counts[keys], _ENDS)
        descent = new_descent(columns, _ranks(self._layout, keys), capacity)
        descent.at[depth_first.CHANCE] = chance
        workspace = _workspace(self._layout, keys, columns)
        is_resumed = False
        while found[0, 0] == depth_first.RUNNING and not self._is_late():
            depth_first.descend(
                self._layout, keys, _ENDS, descent, workspace, _SLICE, is_resumed, found
            )
            is_resumed = True
            if descent.at[depth_first.WORK] >= share:
                break
        reached: NDArray[np.int64] = found[0]
        return reached

    def _refute_any(self, reached: NDArray[np.int64], returns: int, share: int) -> Outcome | None:
        """Return that the key is invalid if the last returns show it, trying the fewest first.

        Of two windows, either may take far less work.
        """
        halves = (returns >> less for less in range(1, returns.bit_length()))
        windows = [returns, *(half for half in halves if half >= _FEWEST_RETURNS)]
        tried = (self._refute(reached, one, share // len(windows)) for one in reversed(windows))
        return next(filter(None, tried), None)

    def _refute(self, reached: NDArray[np.int64], returns: int, share: int) -> Outcome | None:
        """Return that the key is invalid, if a legal order got as far as any can."""
        first = int(self._layout.starts[self._key])
        order = self._layout.returning[first:, CALL]
        source = self._layout.source[first:]
        first_illegal = source[order[reached[1]]]
        row = np.array([frontier.ILLEGAL, reached[1], reached[2], -1, -1, -1])
        if is_overwritten(self._calls, self._key, int(first_illegal)):
            return self._told(row)
        times = self._calls.complete[source[order[: reached[1]]]]
        place = int(np.searchsorted(times, self._calls.invoke[first_illegal])) - returns
        if place <= 0:
            return None
        calls = since(self._calls, self._key, int(times[place - 1]))
        swept = _Swept(lay_out(calls), 0, self._limits.memory_bytes // 4, is_relaxed=True)
        outcome = outcome_of(calls, swept.layout, 0, swept.go_on(share, self._deadline))
        if outcome is None or outcome.first_illegal_row != self._calls.rows[first_illegal]:
            return None
        return self._told(row)

    def _told(self, row: NDArray[np.int64]) -> Outcome | None:
        return outcome_of(self._calls, self._layout, self._key, row)

    def _unknown(self, reason: str) -> Outcome:
        return Outcome(verdict=Verdict.UNKNOWN, engine="frontier", reason=reason)


class _Swept:
    """The frontier of a key, with arrays that grow as it needs them."""

    def __init__(self, layout: Layout, key: int, memory_bytes: int, *, is_relaxed: bool) -> None:
        keys = np.array([key])
        self.is_too_large = False
        self._is_over = False
        self._is_relaxed = is_relaxed
        self.layout = layout
        self._keys = keys
        self._memory_bytes = memory_bytes
        self._ends = _ENDS
        columns = columns_of(layout.counts[keys], _ENDS)
        self._workspace = _workspace(layout, keys, columns)
        capacity = max(_CAPACITY, len(self._workspace.leads)) if is_relaxed else _CAPACITY
        self._frontier = new_frontier(columns, _ranks(layout, keys), capacity)
        self._found = np.full((1, 6), frontier.RUNNING, np.int64)
        self._is_resumed = False

    def go_on(self, share: int, deadline: float) -> NDArray[np.int64]:
        """Do some work, up to the deadline; return the result of `frontier.sweep`."""
        while share > 0 and not self._is_over and time.monotonic() < deadline:
            before = int(self._frontier.at[frontier.WORK]) if self._is_resumed else 0
            frontier.sweep(
                *(self.layout, self._keys, self._ends, self._frontier, self._workspace),
                *(_SLICE, self._is_resumed, self._is_relaxed, self._found),
            )
            self._is_resumed = True
            share -= int(self._frontier.at[frontier.WORK]) - before
            status = int(self._found[0, 0])
            if status in {frontier.VALID, frontier.ILLEGAL}:
                self._is_over = True
            elif status != frontier.RUNNING:
                self._enlarge(status)
        found: NDArray[np.int64] = self._found[0]
        return found

    def _enlarge(self, status: int) -> None:
        """Double what was too small, unless that takes more memory than allowed."""
        capacity, successors = len(self._frontier.links), len(self._workspace.reached)
        columns = self._frontier.even.shape[1]
        if status == frontier.FULL:
            capacity *= 2
        elif status == frontier.LACKS_CAPACITY:
            successors *= 2
        else:
            columns += self._ends
        is_slow = successors > _MOST_SUCCESSORS
        if is_slow or 16 * columns * (capacity + successors) > self._memory_bytes:
            self.is_too_large = self._is_over = True
            return
        self._ends += columns - self._frontier.even.shape[1]
        self._frontier = enlarged(self._frontier, columns, capacity)
        self._workspace = new_workspace(columns, len(self._workspace.leads), successors)
