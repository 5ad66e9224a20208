"""The workspace of a sweep over a topic name, and the steps to each configuration.

For `checkers.engines.kraft.topic_sweep`. A step is an update placed after another step. Steps
without a configuration behind them are dropped when capacity is needed.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.calls.topics import MISS_ID
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.kraft.topic_configurations import (
    COLUMNS,
    COUNT,
    GONE,
    LIVE,
    STEP,
    TOPIC,
    Table,
    new_table,
)
from kraftproof.checkers.engines.kraft.topic_layout import ABSENT, MOST_OPEN, NONE, Ints
from kraftproof.checkers.kernels import bare_kernel

BEGUN: Final = 0
STEPS: Final = 1
WORK: Final = 2
CHOICES: Final = 3
TURN: Final = 4
IS_SWAPPED: Final = 5
MAY_DROP: Final = 6

_BEFORE: Final = 0
_CALL: Final = 1
_NUMBER: Final = 2

_STEPS_A_ROW: Final = 4
ROW_BYTES: Final = 8 * (3 * (COLUMNS + 3) + 3 * _STEPS_A_ROW)
"""What the capacity for a configuration costs, in three tables, with steps to it."""


class Sweep(NamedTuple):
    """What a sweep works with.

    Attributes:
        frontier: the configurations at the last completion.
        passed: the configurations past the next completion.
        seen: the configurations on the way.
        row: int64[1, COLUMNS], the one that is looked at.
        new: int64[1, COLUMNS], its successor.
        opened: int64[MOST_OPEN], the open call at each place.
        bits: int64[6], the open calls by their action, 1 << place each.
        choices: int64[.], calls of which one may follow.
        steps: int64[., 3], the step before each, the call that it placed, and its next number.
        at: int64[7], how many calls have BEGUN, the number of STEPS, how much WORK was done,
            the number of CHOICES, which TURN is next, whether frontier and passed have changed
            places, and whether it MAY DROP configurations for which there is no capacity.
    """

    frontier: Table
    passed: Table
    seen: Table
    row: Ints
    new: Ints
    opened: Ints
    bits: Ints
    choices: Ints
    steps: Ints
    at: Ints


def new_sweep(capacity: int, calls: int) -> Sweep:
    """Return a sweep that has passed nothing.

    Args:
        capacity: for how many configurations; a power of two.
        calls: the number of calls.
    """
    frontier = new_table(capacity)
    frontier.rows[0, TOPIC], frontier.rows[0, STEP] = ABSENT, NONE
    frontier.at[COUNT] = frontier.at[LIVE] = 1
    return Sweep(
        frontier=frontier,
        passed=new_table(capacity),
        seen=new_table(capacity),
        row=np.zeros((1, COLUMNS), dtype=np.int64),
        new=np.zeros((1, COLUMNS), dtype=np.int64),
        opened=np.zeros(MOST_OPEN, dtype=np.int64),
        bits=np.zeros(MISS_ID + 1, dtype=np.int64),
        choices=np.zeros(MOST_OPEN + 2, dtype=np.int64),
        steps=np.zeros((calls + _STEPS_A_ROW * capacity, 3), dtype=np.int64),
        at=np.zeros(MAY_DROP + 1, dtype=np.int64),
    )


def with_capacity(sweep: Sweep, capacity: int, *, may_drop: bool = False) -> Sweep:
    """Return a sweep with capacity for more configurations, at the position where another gave up.

    Args:
        sweep: The other sweep.
        capacity: The number of configurations; a power of two, at least the other sweep's.
        may_drop: Whether configurations without capacity are dropped.
    """
    frontier = _frontier(sweep)
    count = frontier.at[COUNT]
    larger = new_sweep(capacity, len(sweep.steps))
    larger.frontier.rows[:count] = frontier.rows[:count]
    larger.frontier.at[[COUNT, LIVE]] = frontier.at[[COUNT, LIVE]]
    larger.opened[:], larger.bits[:] = sweep.opened, sweep.bits
    larger.steps[: len(sweep.steps)], larger.at[:] = sweep.steps, sweep.at
    larger.at[IS_SWAPPED], larger.at[MAY_DROP] = 0, may_drop
    return larger


def order_of(sweep: Sweep) -> list[int]:
    """Return the updates on the way to what passed all completions, in their order."""
    frontier, found = _frontier(sweep), []
    last = next(row for row in frontier.rows.tolist() if row[TOPIC] != GONE)
    step = last[STEP]
    while step != NONE:
        found.append(int(sweep.steps[step, _CALL]))
        step = int(sweep.steps[step, _BEFORE])
    return found[::-1]


def _frontier(sweep: Sweep) -> Table:
    return sweep.passed if sweep.at[IS_SWAPPED] else sweep.frontier


@bare_kernel
def note_step(sweep: Sweep, call: Integer) -> None:
    """Record the step from the present configuration to the new one.

    The record stays if the configuration is kept: then the caller counts it.
    """
    step = sweep.at[STEPS]
    sweep.steps[step, _BEFORE], sweep.steps[step, _CALL] = sweep.row[0, STEP], call
    sweep.new[0, STEP] = step


@bare_kernel
def has_capacity_for_steps(sweep: Sweep, frontier: Table) -> bool:
    """Return whether the steps of another completion fit; drop unused steps if necessary."""
    most = len(sweep.steps) - len(frontier.rows) - len(sweep.seen.rows)
    if sweep.at[STEPS] >= most:
        _forget_steps(sweep, frontier)
    return bool(sweep.at[STEPS] < most)


@bare_kernel
def _forget_steps(sweep: Sweep, frontier: Table) -> None:
    """Leave out the steps that lead to nothing in the frontier, and numbers the others anew."""
    steps, rows, count = sweep.steps, frontier.rows, sweep.at[STEPS]
    for step in range(count):
        steps[step, _NUMBER] = NONE
    for i in range(frontier.at[COUNT]):
        if rows[i, TOPIC] != GONE and rows[i, STEP] != NONE:
            steps[rows[i, STEP], _NUMBER] = 0
    for step in range(count - 1, -1, -1):
        if steps[step, _NUMBER] != NONE and steps[step, _BEFORE] != NONE:
            steps[steps[step, _BEFORE], _NUMBER] = 0
    kept = 0
    for step in range(count):
        if steps[step, _NUMBER] != NONE:
            before = steps[step, _BEFORE]
            steps[kept, _BEFORE] = NONE if before == NONE else steps[before, _NUMBER]
            steps[kept, _CALL] = steps[step, _CALL]
            steps[step, _NUMBER] = kept
            kept += 1
    sweep.at[STEPS] = kept
    for i in range(frontier.at[COUNT]):
        if rows[i, TOPIC] != GONE and rows[i, STEP] != NONE:
            rows[i, STEP] = steps[rows[i, STEP], _NUMBER]
