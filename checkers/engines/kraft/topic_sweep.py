"""A sweep over the completions of a topic name, with the possible topics at each.

A call is placed only when another call has to return, and only until the returning call has a place
(after Lowe, "Testing for linearizability", 2017). A call that only finds or misses the topic is
placed as soon as it is legal: at its invocation, or after an update.
`checkers.engines.kraft.topic_updates` chooses the next updates, and `topic_configurations` drops
covered configurations.

A sweep that may drop configurations drops those without capacity: if it passes, an order exists; if
it fails, an order may exist.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.topics import CREATE, DELETE, DELETE_ID, FIND, MISS, MISS_ID
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.kraft.topic_configurations import (
    COUNT,
    DONE,
    GONE,
    IS_FULL,
    IS_INDETERMINATE,
    LIVE,
    TOPIC,
    Table,
    add,
    clear,
    copy_row,
)
from kraftproof.checkers.engines.kraft.topic_layout import ABSENT, NONE, Layout
from kraftproof.checkers.engines.kraft.topic_updates import choose, update
from kraftproof.checkers.engines.kraft.topic_workspace import (
    BEGUN,
    CHOICES,
    IS_SWAPPED,
    MAY_DROP,
    STEPS,
    TURN,
    WORK,
    Sweep,
    has_capacity_for_steps,
    note_step,
)
from kraftproof.checkers.kernels import bare_kernel

PASSED: Final = -1
GIVEN_UP: Final = -2


@bare_kernel
def sweep_calls(layout: Layout, sweep: Sweep, most: Integer) -> Integer:
    """Pass the completions, from where the sweep stands.

    Args:
        layout: the calls.
        sweep: where it stands.
        most: how much work it may do, about.

    Returns:
        The first call that no configuration passes, PASSED, or GIVEN_UP, before a completion for
        which there is too little capacity, or where the work is done.
    """
    at = sweep.at
    frontier, passed = sweep.frontier, sweep.passed
    while at[TURN] < len(layout.turns):
        turn = layout.turns[at[TURN]]
        if turn >= 0:
            _begin(layout, sweep, frontier, turn)
        else:
            if not has_capacity_for_steps(sweep, frontier):
                return GIVEN_UP
            _pass(layout, sweep, frontier, passed, ~turn, most)
            is_full = passed.at[IS_FULL] + sweep.seen.at[IS_FULL] > 0
            if at[WORK] > most or (is_full and not at[MAY_DROP]):
                return GIVEN_UP
            if passed.at[LIVE] == 0:
                return np.int64(~turn)
            sweep.bits[layout.action[~turn]] &= ~(1 << layout.place[~turn])
            frontier, passed = passed, frontier
            at[IS_SWAPPED] = 1 - at[IS_SWAPPED]
        at[TURN] += 1
    return PASSED


@bare_kernel
def _begin(layout: Layout, sweep: Sweep, frontier: Table, call: Integer) -> None:
    """Open a call; place it if it is legal already and changes nothing."""
    sweep.at[BEGUN] = call + 1
    action, place = layout.action[call], layout.place[call]
    if place == NONE:
        return
    bit = 1 << place
    sweep.opened[place] = call
    sweep.bits[action] |= bit
    for i in range(frontier.at[COUNT]):
        there = frontier.rows[i, TOPIC]
        if (
            (action == FIND and there != ABSENT)
            or (action == MISS and there == ABSENT)
            or (action == MISS_ID and there != layout.topic[call])
        ):
            frontier.rows[i, DONE] |= bit


@bare_kernel
def _pass(
    layout: Layout, sweep: Sweep, frontier: Table, passed: Table, call: Integer, most: Integer
) -> None:
    """Place a returning call, in every configuration that has not placed it yet."""
    clear(passed)
    clear(sweep.seen)
    bit = 1 << layout.place[call]
    for i in range(frontier.at[COUNT]):
        if frontier.rows[i, TOPIC] == GONE:
            continue
        if frontier.rows[i, DONE] & bit != 0:
            copy_row(frontier.rows, i, sweep.new, 0)
            _keep(sweep, passed, bit)
        else:
            copy_row(frontier.rows, i, sweep.row, 0)
            _follow(layout, sweep, passed, bit)
    i = 0
    while i < sweep.seen.at[COUNT] and sweep.at[WORK] <= most:
        if sweep.seen.rows[i, TOPIC] != GONE:
            copy_row(sweep.seen.rows, i, sweep.row, 0)
            _follow(layout, sweep, passed, bit)
        i += 1


@bare_kernel
def _keep(sweep: Sweep, passed: Table, bit: Integer) -> None:
    """Add a configuration to the passed ones if it passes, else to those on the way."""
    new = sweep.new
    updates = sweep.bits[CREATE] | sweep.bits[DELETE] | sweep.bits[DELETE_ID]
    if new[0, DONE] & bit != 0:
        new[0, DONE] &= ~bit
        new[0, IS_INDETERMINATE] = 0
        sweep.at[WORK] += 1 + add(passed, new, updates)
    else:
        sweep.at[WORK] += 1 + add(sweep.seen, new, updates)


@bare_kernel
def _follow(layout: Layout, sweep: Sweep, passed: Table, bit: Integer) -> None:
    """Keep what can follow a configuration by one update."""
    choose(layout, sweep)
    for choice in range(sweep.at[CHOICES]):
        update(layout, sweep, sweep.choices[choice])
        note_step(sweep, sweep.choices[choice])
        before = passed.at[COUNT] + sweep.seen.at[COUNT]
        _keep(sweep, passed, bit)
        sweep.at[STEPS] += passed.at[COUNT] + sweep.seen.at[COUNT] - before
