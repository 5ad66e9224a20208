"""Refute strings or registers: no order passes a return, shown by the last calls before it.

The beam search (`checkers.engines.repeated.beam_search.beam_search`) drops configurations and then
only finds orders. The search here drops none. It stays small because it begins late, with more
configurations than are possible. At its *start*, an event, each configuration of an order is
covered by the configuration with the same values, with all open calls done and unused, and without
indeterminate calls. The search begins with such a configuration for each combination of values that
later calls may find, and with NOTHING for all other values, which no call up to the return can
distinguish. If no configuration passes the return, no order does.

A legal order of all calls is also legal for a subset of the registers, with the calls that find or
leave a value there. A return without an order there has no order at all. A single register is
mostly searched from the beginning at once. Single registers and pairs come before all registers
together, each with ever earlier starts, until a search is too large.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import combinations, product
from math import prod
from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.bisection import Guided
from kraftproof.checkers.engines.repeated.beam_search.configurations import DROPPED, SIZE
from kraftproof.checkers.engines.repeated.beam_search.steps import DONE, STATE
from kraftproof.checkers.engines.repeated.beam_search.sweep import (
    POSITION,
    WORK,
    Search,
    bytes_of,
    columns_of,
    new_search,
    positions,
    sweep,
)
from kraftproof.checkers.engines.repeated.layout import (
    NONE,
    NOTHING,
    Facts,
    Ints,
    Layout,
    Values,
    lay_out,
)
from kraftproof.checkers.history.columns import NEVER

_FIRST_RETURNS: Final = 16
"""How many returns before the one in question a search begins at first."""
_MOST_RETURNS: Final = 1 << 10
_WORK_A_RETURN: Final = 1_000
"""So much is done at most for each configuration that is not too many, or return."""
_MOST_STARTS: Final = 2_000
"""Beyond these, the values that the registers may hold at the start are too many."""


class Finding(Enum):
    """What a search from a start came to."""

    REFUTED = "no order passes the return"
    PASSED = "an order may pass it"
    TOO_LARGE = "there was too much to search"


class _TooLargeError(Exception):
    """There is too much to search."""


class Refuter:
    """Tries to show that no order passes a return.

    Attributes:
        spent: the work done so far.
    """

    def __init__(self, layout: Layout, memory_bytes: int) -> None:
        """Have nothing shown.

        Args:
            layout: the calls.
            memory_bytes: what a search may take.
        """
        registers = range(len(layout.initial))
        self.spent = 0
        self._layout = layout
        self._memory_bytes = memory_bytes
        self._scopes = [list(scope) for scope in combinations(registers, 2)] or [list(registers)]
        if len(registers) > 2:
            self._scopes.append(list(registers))
        self._alone: int | None = None
        self._position = -1
        self._returns: list[int] = []

    def shown(self, position: int, cut: int, most: int) -> int | None:
        """Return the event of a return that no order passes, None if no such return is known.

        Args:
            position: The position of a return; all earlier returns have been passed.
            cut: The last event of the prefix.
            most: The maximum number of configurations of a return.
        """
        if self._alone is None:
            self._alone = self._shown_alone(most)
        if self._alone <= cut and self._alone != NEVER:
            return self._alone
        if self._position != position:
            self._position, self._returns = position, [_FIRST_RETURNS] * len(self._scopes)
        event = int(self._layout.complete[self._layout.returning[position]])
        is_shown = any(self._is_shown(number, event, most) for number in range(len(self._scopes)))
        return event if is_shown else None

    def _shown_alone(self, most: int) -> int:
        """Return the first return that a register alone does not pass, NEVER if none is known.

        Only searched for where a key has several.
        """
        registers = range(len(self._layout.initial))
        return (
            min(map(partial(self._first_illegal_alone, most), registers))
            if len(registers) > 1
            else NEVER
        )

    def _first_illegal_alone(self, most: int, register: int) -> int:
        layout = _since(self._layout, [register], -1, NEVER)

        def decide(cut: int) -> tuple[bool, int]:
            finding, event = self._search([register], -1, cut, most, self._work(layout, most))
            if finding is Finding.TOO_LARGE:
                raise _TooLargeError
            return finding is Finding.PASSED, event

        try:
            first_illegal = Guided(complete=layout.complete, decide=decide).find_first_illegal()
        except _TooLargeError:
            return NEVER
        return NEVER if first_illegal is None else int(layout.complete[first_illegal])

    def _is_shown(self, number: int, event: int, most: int) -> bool:
        """Return whether some of the registers do not pass the return."""
        layout = self._layout
        while self._returns[number] <= _MOST_RETURNS:
            before = self._position - self._returns[number]
            start = int(layout.complete[layout.returning[before]]) if before >= 0 else -1
            work = _WORK_A_RETURN * most
            finding, _ = self._search(self._scopes[number], start, event, most, work)
            if finding is Finding.REFUTED:
                return True
            if finding is Finding.TOO_LARGE or before < 0:
                return False
            self._returns[number] *= 2
        return False

    def _work(self, layout: Layout, most: int) -> int:
        return _WORK_A_RETURN * (most + len(layout.returning))

    def _search(
        self, registers: Sequence[int], start: int, event: int, most: int, work: int
    ) -> tuple[Finding, int]:
        """Search from an event to another; return the finding and its event."""
        late = _since(self._layout, registers, start, event)
        rows = _first_rows(late, start)
        if rows is None or len(rows) > most or bytes_of(late, most) > self._memory_bytes:
            return Finding.TOO_LARGE, start
        search = new_search(late, most)
        _begin(search, rows)
        finding = _swept(late, search, most, event, work)
        self.spent += int(search.at[WORK])
        at = int(search.at[POSITION])
        return finding, int(
            late.complete[late.returning[at]]
        ) if finding is Finding.REFUTED else event


def _swept(layout: Layout, search: Search, most: int, event: int, work: int) -> Finding:
    """Pass the returns up to an event, as long as nothing is dropped."""
    end = positions(layout, event)
    while search.at[POSITION] < end and search.at[WORK] < work:
        is_there = sweep(layout, search, most, int(search.at[POSITION]) + 1, event, NEVER, work)
        if search.here.at[DROPPED] + search.there.at[DROPPED]:
            return Finding.TOO_LARGE
        if not is_there:
            return Finding.REFUTED
    return Finding.PASSED if search.at[POSITION] == end else Finding.TOO_LARGE


def _since(layout: Layout, registers: Sequence[int], start: int, event: int) -> Layout:
    """Return the calls on some registers that were invoked before an event and open at another."""
    find, leave = layout.find[:, registers], layout.leave[:, registers]
    piece = layout.piece if 0 in registers else np.full_like(layout.piece, NONE)
    touches = (find != NONE).any(axis=1) | (leave != NONE).any(axis=1) | (piece != NONE)
    kept = touches & (layout.complete > start) & (layout.invoke < event)
    late = lay_out(
        Facts(
            invoke=layout.invoke[kept],
            complete=layout.complete[kept],
            find=find[kept],
            leave=leave[kept],
            piece=piece[kept],
            values=Values(
                initial=layout.initial[registers],
                last=layout.last,
                edge_starts=layout.edge_starts,
                edge_piece=layout.edge_piece,
                edge_to=layout.edge_to,
            ),
        )
    )
    assert late is not None, "of some calls no more are open at a time than of all"
    return late


def _first_rows(layout: Layout, start: int) -> Ints | None:
    """Return configurations that cover all possible ones at the start; None if too many.

    int64[k, .]; at the very beginning, the only configuration.
    """
    registers = len(layout.initial)
    options = [list(_held(layout, register, start)) for register in range(registers)]
    if start < 0:
        options = [[value] for value in layout.initial.tolist()]
    if prod(map(len, options)) > _MOST_STARTS:
        return None
    values = np.asarray(list(product(*options)), dtype=np.int64)
    rows = np.zeros((len(values), columns_of(layout)), dtype=np.int64)
    is_open = (layout.invoke < start) & (layout.complete != NEVER)
    rows[:, DONE] = np.bitwise_or.reduce(np.int64(1) << layout.slot[is_open], initial=np.int64(0))
    rows[:, STATE : STATE + registers] = values
    return rows


def _held(layout: Layout, register: int, start: int) -> Iterator[int]:
    """Yield the values that a register may hold at the start.

    They are the values that lead to a found value, and NOTHING. Open calls without an effect have
    found their values by then.
    """
    finds = layout.find[:, register]
    may_find = layout.updates | (layout.invoke > start)
    found = set(finds[(finds >= 0) & may_find].tolist())
    parents = layout.parent.tolist()
    for value in tuple(found):
        while (value := parents[value]) != NONE and value not in found:
            found.add(value)
    yield NOTHING
    yield from sorted(found)


def _begin(search: Search, rows: Ints) -> None:
    there = search.there
    there.rows[: len(rows)] = rows
    there.is_kept[: len(rows)] = True
    there.at[SIZE] = len(rows)
