"""The next updates in a sweep over a topic name, and their successors.

Creates and deletes alternate, so the kind of the next update is known. The rules below choose the
update. No rule loses a legal order: in an order that breaks a rule, two calls can change places,
one can replace the other, or two indeterminate calls can move later.

- Of deletes with equal effect on the present topic, the first to return goes first; likewise of
  creates whose ids no call asks for.
- The id of a deleted topic never returns, so a delete by that id takes effect now or never. With an
  open delete that returns, no indeterminate delete is needed; an indeterminate delete by the id
  precedes an indeterminate delete by name. Deletes by ids that no answer told are equal for every
  topic whose id no answer told: here, too, returning deletes precede indeterminate ones, and these
  precede indeterminate deletes by name, which can replace them later.
- An indeterminate call can take effect at any later time. So a returning delete by name precedes an
  indeterminate one, and an open create precedes an indeterminate one if no call distinguishes their
  topics.
- An indeterminate delete never directly follows an indeterminate create: both can move later, just
  before a returning call that found the topic.

Indeterminate creates are equal, and so are indeterminate deletes by name, and those by ids that no
answer told. Only their numbers count. The use of an indeterminate delete by a known id is not
recorded: after it, the topic is over.
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
    IS_INDETERMINATE,
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
    """List the calls that may come next after the configuration that is looked at."""
    sweep.at[CHOICES] = 0
    if sweep.row[0, TOPIC] == ABSENT:
        _choose_create(layout, sweep)
    else:
        _choose_delete(layout, sweep)


@bare_kernel
def update(layout: Layout, sweep: Sweep, call: Integer) -> None:
    """Make the configuration after an update, with all that can be answered then."""
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
    new[0, IS_INDETERMINATE] = is_create and place == NONE
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
    """List the creates that may come next."""
    left = sweep.bits[CREATE] & ~sweep.row[0, DONE]
    place = 0
    while left >> place != 0:
        if (left >> place) & 1 and layout.topic[sweep.opened[place]] >= 0:
            _offer(sweep, sweep.opened[place])
        place += 1
    unasked = _soonest(layout, sweep, CREATE, UNASKED if layout.asks_untold else UNTOLD)
    _offer(sweep, unasked)
    if unasked == NONE or layout.asks_untold:
        _offer(sweep, _indeterminate(layout.may_create, sweep, CREATES))


@bare_kernel
def _choose_delete(layout: Layout, sweep: Sweep) -> None:
    """List the deletes that may come next."""
    there = sweep.row[0, TOPIC]
    by_name = _soonest(layout, sweep, DELETE, UNTOLD)
    by_id = _soonest(layout, sweep, DELETE_ID, there)
    _offer(sweep, by_name)
    _offer(sweep, by_id)
    if by_id != NONE or sweep.row[0, IS_INDETERMINATE]:
        return
    indeterminate: Integer = NONE
    if there >= 0 and layout.may_end_id[there] < sweep.at[BEGUN]:
        indeterminate = layout.may_end_id[there]
    elif there == UNTOLD:
        indeterminate = _indeterminate(layout.may_end, sweep, ENDS)
    if indeterminate == NONE and by_name == NONE:
        indeterminate = _indeterminate(layout.may_delete, sweep, DELETES)
    _offer(sweep, indeterminate)


@bare_kernel
def _offer(sweep: Sweep, call: Integer) -> None:
    if call != NONE:
        sweep.choices[sweep.at[CHOICES]] = call
        sweep.at[CHOICES] += 1


@bare_kernel
def _soonest(layout: Layout, sweep: Sweep, action: Integer, topic: Integer) -> Integer:
    """Return the returning call first, of the open ones of a kind that have no place yet."""
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
def _indeterminate(calls: Ints, sweep: Sweep, column: Integer) -> Integer:
    """Return the first indeterminate call of a kind that is not used, NONE otherwise has begun."""
    used = sweep.row[0, column]
    if used < len(calls) and calls[used] < sweep.at[BEGUN]:
        return np.int64(calls[used])
    return NONE
