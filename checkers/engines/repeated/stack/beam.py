"""A beam search for a legal order of a stack's calls, over the graph-structured stack.

The search sweeps over the completions like `checkers.engines.repeated.stack.graph`, and keeps only
the best states (`checkers.engines.repeated.stack.graph_heuristic`): a beam search (Lowerre, "The
Harpy speech recognition system", 1976) over a graph-structured stack (Tomita, "An efficient
augmented-context-free parsing algorithm", 1987). The order of deep elements is decided long before
a take shows a mistake, and by then all stacks of a plain beam share the mistake. A frame here has
several stacks below it, so that some hundred states stand for very many stacks.

States that differ only in the indeterminate calls used are mostly merged, and the cheapest way
stays. A frame counts with one of its edges: the calls used on top of the frame come in addition to
the calls used on that edge's way. Another edge serves if its way used no more calls of these kinds:
the rule loses orders, but keeps the beam narrow, and no call is used twice.

If no state passes a completion, the search goes back, farther each time and with more states, until
it is past that completion. An order that it finds is replayed
(`checkers.engines.repeated.stack.order`); a failure proves nothing.

Time is O(n) times the kept states and the open calls, more after failures; memory is some hundred
bytes for each step of the kept states.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.effort import Effort
from kraftproof.checkers.engines.repeated.stack.graph_capacity import (
    collect,
    is_half_full,
    with_heaps,
)
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    COUNT,
    EDGE_COLUMNS,
    FRAME_COLUMNS,
    WORD_COLUMNS,
    new_heap,
)
from kraftproof.checkers.engines.repeated.stack.graph_heuristic import Selection
from kraftproof.checkers.engines.repeated.stack.graph_order import order_of
from kraftproof.checkers.engines.repeated.stack.graph_sweep import (
    FULL,
    OUT_OF_WORK,
    PASSED,
    sweep_levels,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import (
    ARRIVED,
    IS_APART,
    LEVEL,
    MOST_COST,
    MOST_EDGES,
    NO_LIMIT,
    Sweep,
    new_sweep,
)
from kraftproof.checkers.engines.repeated.stack.layout import MOST_SLOTS, Calls, Ints
from kraftproof.checkers.options import Limits

_WORK_A_SECOND: Final = 20_000_000
"""So much on any machine; the cost of a key is counted, not timed."""
_KEPT: Final = 64
_MOST_KEPT: Final = 1 << 10
_EDGES: Final = 4
"""So many stacks, and some more after a while, are told apart below a frame."""
_ON_THE_WAY: Final = 4
"""So many states for each that is kept may come up by one completion."""
_STRIDE: Final = 32
"""One in so many completions can be gone back to; half as many each time it is twice as far."""
_NEAR: Final = 16
_MOST_TURNS: Final = 40
"""Maximum number of failures at a completion."""
_CAPACITY: Final = _MOST_KEPT * _ON_THE_WAY
_BYTES_OF_STATE: Final = 2400
"""What the capacity for a state costs at first."""
_FRAME_BYTES: Final = 1200
"""What the capacity for a frame costs, with edges and words, while it is moved to more."""


def found_order(calls: Calls, last: int, limits: Limits) -> Ints | None:
    """Return puts and takes in what should be a legal order; None if none was found.

    Args:
        calls: the calls of a key.
        last: the number of completions to reach.
        limits: the limits.
    """
    if calls.opened.shape[1] > MOST_SLOTS or limits.memory_bytes < _CAPACITY * _BYTES_OF_STATE:
        return None
    search = _Search(
        calls=calls, sweep=new_sweep(calls, _CAPACITY), memory_bytes=limits.memory_bytes
    )
    if not search.reaches(last, int(limits.seconds * _WORK_A_SECOND)):
        return None
    return order_of(calls, search.sweep)


def _with_capacity(sweep: Sweep, capacity: int) -> Sweep:
    """Return a sweep with capacity for so many frames, and edges and words for these."""
    larger = sweep._replace(
        frames=new_heap(capacity, FRAME_COLUMNS),
        edges=new_heap(8 * capacity, EDGE_COLUMNS),
        words=new_heap(4 * capacity, WORD_COLUMNS),
    )
    return with_heaps(larger, sweep)


def _effort() -> Effort:
    return Effort(first=_KEPT, most=_MOST_KEPT, attempts=2, apart=_STRIDE)


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search under way.

    Attributes:
        calls: The calls of a key.
        sweep: The states, and the steps to them.
        memory_bytes: The maximum size of frames, edges and words.
        trail: The checkpoints, by the number of completions passed.
        effort: The width, and the distance to go back.
        full: The last completion for which there was too little capacity.
    """

    calls: Calls
    sweep: Sweep
    memory_bytes: int
    trail: dict[int, Ints] = field(default_factory=dict)
    effort: Effort = field(default_factory=_effort)
    full: int = -1

    def reaches(self, last: int, most: int) -> bool:
        """Return whether it passes so many completions, by so much work at most."""
        self.note()
        while self.sweep.at[LEVEL] < last:
            goal = min(last, (int(self.sweep.at[LEVEL]) // _STRIDE + 1) * _STRIDE)
            first_illegal = self.advance(goal, most)
            if first_illegal == OUT_OF_WORK or (first_illegal == FULL and not self.enlarge()):
                return False
            if first_illegal == PASSED:
                self.note()
            elif first_illegal != FULL and not self.go_back():
                return False
        return True

    def advance(self, goal: int, most: int) -> int:
        """Pass completions with the present effort; return the result of the sweep.

        In every other attempt, states with different indeterminate calls are kept apart, which
        leaves fewer different stacks.
        """
        turns, kept = self.effort.fails, self.effort.width
        more = 1 + turns // 4
        self.sweep.at[MOST_EDGES] = _EDGES * (1 + turns % 3) << (turns // 8)
        self.sweep.at[IS_APART] = self.effort.attempt
        capacity = _ON_THE_WAY * kept
        narrow = self.sweep._replace(
            passed=self.sweep.passed._replace(rows=self.sweep.passed.rows[:capacity]),
            seen=self.sweep.seen._replace(rows=self.sweep.seen.rows[:capacity]),
            made=self.sweep.made._replace(rows=self.sweep.made.rows[:capacity]),
        )
        return int(sweep_levels(self.calls, narrow, goal, most, Selection(kept=kept, more=more)))

    def note(self) -> None:
        """Note where it stands, to go back to; of what is long ago less and less."""
        level, frontier = int(self.sweep.at[LEVEL]), self.sweep.frontier
        self.effort.came_to(level)
        self.trail[level] = frontier.rows[: frontier.at[COUNT]].copy()
        self.trail = {
            noted: rows
            for noted, rows in self.trail.items()
            if noted % (_STRIDE << max(0, ((level - noted) // (_NEAR * _STRIDE)).bit_length())) == 0
        }

    def go_back(self) -> bool:
        """Go back, farther each time; return whether to go on."""
        self.effort.failed_at(int(self.sweep.at[LEVEL]))
        if self.effort.fails > _MOST_TURNS:
            return False
        far = self.effort.furthest - _STRIDE * self.effort.back
        level = max(noted for noted in self.trail if noted <= max(far, 0))
        self.trail = {noted: rows for noted, rows in self.trail.items() if noted <= level}
        rows, frontier = self.trail[level], self.sweep.frontier
        frontier.rows[: len(rows)], frontier.at[COUNT] = rows, len(rows)
        self.sweep.at[LEVEL], self.sweep.at[MOST_COST] = level, NO_LIMIT
        self.sweep.begun[:], self.sweep.at[ARRIVED] = 0, 0
        return True

    def enlarge(self) -> bool:
        """Make capacity for frames, edges and words; return whether there is any."""
        frontier = self.sweep.frontier.rows[: self.sweep.frontier.at[COUNT]]
        states = np.concatenate([frontier, *self.trail.values()])
        collect(self.sweep, states)
        ends = np.cumsum([len(frontier), *map(len, self.trail.values())])
        observed = np.split(states, ends[:-1])
        frontier[:] = observed[0]
        self.trail = dict(zip(self.trail, observed[1:], strict=True))
        capacity = 2 * len(self.sweep.frames.rows)
        is_again, self.full = self.full == self.sweep.at[LEVEL], int(self.sweep.at[LEVEL])
        if is_again or is_half_full(self.sweep):
            if capacity * _FRAME_BYTES > self.memory_bytes:
                return False
            self.sweep = _with_capacity(self.sweep, capacity)
        return True
