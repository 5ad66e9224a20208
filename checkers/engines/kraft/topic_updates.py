"""Which update may come next in a sweep over one topic name, and what it leads to.

Creates and deletes take turns, so it is known of which kind the next update is. Which one, follows
from these rules. None loses a legal order: in any that breaks one, two calls can change places, or
one stand for the other, or two lost ones come later.

- Of deletes that do the same to what is there, the one that returns first goes first; so it does of
  creates whose ids no call asks for.
- Once a topic is over its id is never there again, so a delete by its id has its effect now or
  never. If one that returns is open, no lost delete is needed; and a lost one by its id goes before
  a lost one of whatever is there. Deletes by ids that nobody was told do the same to every topic
  whose id nobody was told: there, too, those that return go before lost ones, and these before lost
  ones of whatever is there, which can take their places later.
- A lost call can have its effect at any later time, so a delete by name that returns goes before a
  lost one, and an open create before a lost one if nothing can tell their topics apart.
- A lost create is not followed by a lost delete at once: both together can come later, just before
  something returns that found the topic.

Lost creates do the same; so do lost deletes of whatever is there, and those by ids that nobody was
told. Only their numbers count. Whether a lost delete by an id that was told has been used is not
noted: after it, the topic is over.
"""

import numpy as np

from kraftproof.checkers.calls.topics import (
    CREATE,
    DELETE,
    DELETE_ID,
    FIND,
    MAY_DELETE,
    MISS,
    MISS_ID,
)
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.kraft.topic_configurations import (
    CREATES,
    DELETES,
    DONE,
    ENDS,
    IS_LOST,
    TOPIC,
    copy_row,
)
from kraftproof.checkers.engines.kraft.topic_layout import (
    ABSENT,
    NONE,
    UNASKED,
    UNTOLD,
    Ints,
    Layout,
)
from kraftproof.checkers.engines.kraft.topic_workspace import BEGUN, CHOICES, Sweep
from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def choose(layout: Layout, sweep: Sweep) -> None:
    """Lists the calls that may come next after the configuration that is looked at."""
    sweep.at[CHOICES] = 0
    if sweep.row[0, TOPIC] == ABSENT:
        _choose_create(layout, sweep)
    else:
        _choose_delete(layout, sweep)


@bare_kernel
def update(layout: Layout, sweep: Sweep, call: Integer) -> None:
    """Makes the configuration after an update, with all that can be answered then."""
    row, new = sweep.row, sweep.new
    copy_row(row, 0, new, 0)
    place = layout.place[call]
    is_create = layout.action[call] == CREATE
    if is_create:
        new[0, TOPIC] = layout.topic[call]
        new[0, DONE] |= sweep.bits[FIND]
    else:
        new[0, TOPIC] = ABSENT
        new[0, DONE] |= sweep.bits[MISS] | sweep.bits[MISS_ID]
    new[0, IS_LOST] = is_create and place == NONE
    if place != NONE:
        new[0, DONE] |= 1 << place
    elif is_create:
        new[0, CREATES] += 1
    elif layout.action[call] == MAY_DELETE:
        new[0, DELETES] += 1
    elif layout.topic[call] == UNTOLD:
        new[0, ENDS] += 1


@bare_kernel
def _choose_create(layout: Layout, sweep: Sweep) -> None:
    """Lists the creates that may come next."""
    left = sweep.bits[CREATE] & ~sweep.row[0, DONE]
    place = 0
    while left >> place != 0:
        if (left >> place) & 1 and layout.topic[sweep.opened[place]] >= 0:
            _offer(sweep, sweep.opened[place])
        place += 1
    unasked = _soonest(layout, sweep, CREATE, UNASKED if layout.asks_untold else UNTOLD)
    _offer(sweep, unasked)
    if unasked == NONE or layout.asks_untold:
        _offer(sweep, _lost(layout.may_create, sweep, CREATES))


@bare_kernel
def _choose_delete(layout: Layout, sweep: Sweep) -> None:
    """Lists the deletes that may come next."""
    there = sweep.row[0, TOPIC]
    by_name = _soonest(layout, sweep, DELETE, UNTOLD)
    by_id = _soonest(layout, sweep, DELETE_ID, there)
    _offer(sweep, by_name)
    _offer(sweep, by_id)
    if by_id != NONE or sweep.row[0, IS_LOST]:
        return
    lost: Integer = NONE
    if there >= 0 and layout.may_end_id[there] < sweep.at[BEGUN]:
        lost = layout.may_end_id[there]
    elif there == UNTOLD:
        lost = _lost(layout.may_end, sweep, ENDS)
    if lost == NONE and by_name == NONE:
        lost = _lost(layout.may_delete, sweep, DELETES)
    _offer(sweep, lost)


@bare_kernel
def _offer(sweep: Sweep, call: Integer) -> None:
    if call != NONE:
        sweep.choices[sweep.at[CHOICES]] = call
        sweep.at[CHOICES] += 1


@bare_kernel
def _soonest(layout: Layout, sweep: Sweep, action: Integer, topic: Integer) -> Integer:
    """Returns the call that returns first, of the open ones of a kind that have no place yet."""
    left = sweep.bits[action] & ~sweep.row[0, DONE]
    best: Integer = NONE
    place = 0
    while left >> place != 0:
        call = sweep.opened[place]
        if (
            (left >> place) & 1
            and layout.topic[call] == topic
            and (best == NONE or layout.complete[call] < layout.complete[best])
        ):
            best = call
        place += 1
    return best


@bare_kernel
def _lost(calls: Ints, sweep: Sweep, column: Integer) -> Integer:
    """Returns the first lost call of a kind that is not used, NONE if none has begun."""
    used = sweep.row[0, column]
    if used < len(calls) and calls[used] < sweep.at[BEGUN]:
        return np.int64(calls[used])
    return NONE
