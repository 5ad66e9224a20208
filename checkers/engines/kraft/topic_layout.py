"""The calls on one topic name laid out for a sweep (`checkers.engines.kraft.topic_sweep`).

Ids are numbered anew. What no call asks for needs no number of its own: topics of such ids, and
those whose ids nobody was told, are told apart only where a delete asks for an id nobody was told.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.topics import (
    CREATE,
    DELETE_ID,
    MAY_DELETE,
    MAY_DELETE_ID,
    MISS_ID,
    TopicCalls,
)
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.chains import chains_of
from kraftproof.checkers.history.columns import NEVER

Ints = NDArray[np.int64]

NONE: Final = -1
ABSENT: Final = -1
UNTOLD: Final = -2
UNASKED: Final = -3
MOST_OPEN: Final = 63
"""Open calls at a time have a bit each in an integer."""


class Layout(NamedTuple):
    """The n calls on one topic name, in the order of their invocations.

    Attributes:
        turns: int64[k], the events in their order: c for the invocation of call c, ~c for its
            completion.
        action: int8[n].
        topic: int64[n], an id that calls ask for, from 0; UNTOLD or UNASKED for any other.
        complete: int64[n].
        place: int64[n], the place of a call among those open at a time; NONE if it is
            indeterminate.
        may_create: int64[.], the lost creates.
        may_delete: int64[.], the lost deletes of whatever is there.
        may_end: int64[.], the lost deletes by an id that nobody was told.
        may_end_id: int64[m], for each of the m ids asked for the first lost delete by it, or NONE.
        asks_untold: whether a delete asks for an id that nobody was told.
    """

    turns: Ints
    action: NDArray[np.int8]
    topic: Ints
    complete: Ints
    place: Ints
    may_create: Ints
    may_delete: Ints
    may_end: Ints
    may_end_id: Ints
    asks_untold: bool


def layout_of(calls: TopicCalls, start: int, end: int, cut: int) -> Layout | None:
    """Return the layout of the calls on a topic name up to an event.

    None if an id was given twice, or if more than MOST_OPEN calls are open at a time.
    """
    action, given = calls.action[start:end], calls.topic[start:end]
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]
    observed = given[(action == CREATE) & (given != NO_VALUE)]
    is_sure = complete != NEVER
    lane, _, lanes = chains_of(invoke[is_sure], complete[is_sure], MOST_OPEN)
    if lanes > MOST_OPEN or len(np.unique(observed)) < len(observed):
        return None
    place = np.full(len(action), NONE)
    place[is_sure] = lane
    topic, asked, asks_untold = _numbered(action, given, observed)
    indeterminate_ends = np.flatnonzero(action == MAY_DELETE_ID)
    is_observed = topic[indeterminate_ends] >= 0
    last_first = indeterminate_ends[is_observed][::-1]
    may_end_id = np.full(asked, NONE)
    may_end_id[topic[last_first]] = last_first
    return Layout(
        turns=_turns(invoke, complete, (action != MISS_ID) | (topic >= 0), cut),
        action=action,
        topic=topic,
        complete=complete,
        place=place,
        may_create=np.flatnonzero((action == CREATE) & ~is_sure),
        may_delete=np.flatnonzero(action == MAY_DELETE),
        may_end=indeterminate_ends[~is_observed],
        may_end_id=may_end_id,
        asks_untold=asks_untold,
    )


def _numbered(action: NDArray[np.int8], given: Ints, observed: Ints) -> tuple[Ints, int, bool]:
    """Return the topics' numbers, the count of known ids, and whether an unknown id is asked for.

    A call for an id that no answer told misses every topic, so only deletes count.
    """
    is_end = (action == DELETE_ID) | (action == MAY_DELETE_ID)
    asked = np.intersect1d(given[is_end | (action == MISS_ID)], observed)
    asks_untold = not np.isin(given[is_end], observed).all()
    is_asked = np.isin(given, asked)
    topic = np.full(len(given), UNTOLD)
    topic[is_asked] = np.searchsorted(asked, given[is_asked])
    if asks_untold:
        topic[(action == CREATE) & ~is_asked & (given != NO_VALUE)] = UNASKED
    return topic, len(asked), asks_untold


def _turns(invoke: Ints, complete: Ints, is_kept: NDArray[np.bool_], cut: int) -> Ints:
    begun = np.flatnonzero(is_kept & (invoke < cut))
    over = np.flatnonzero(is_kept & (complete <= min(cut, NEVER - 1)))
    events = np.concatenate((invoke[begun], complete[over]))
    return np.concatenate((begun, ~over))[np.argsort(events)]
