"""Which values of a history are likely to show that it is invalid, for the others to be left out.

Heuristics: they propose, and an engine decides what is left (`checkers.explain.minimise`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from checkers.explain.brute_force import is_linearizable
from checkers.explain.spares import SparingModel
from checkers.explain.subhistory import Entry, SubHistory
from checkers.explain.witness import Step
from checkers.models.reducible import AllBut, ReducibleModel

_MOST_EACH: Final = 64
"""Of values that are each enough so many are tried together."""
_MOST_CALLS: Final = 12
"""Values with more calls than these are not looked at one by one."""


def fewest(values: list[Hashable], is_enough: Callable[[list[Hashable]], bool]) -> list[Hashable]:
    """Returns as few of some values as are enough: none of them can be left out.

    Leaves out chunks, each half as large as before (Zeller & Hildebrandt 2002).

    Args:
        values: the values, which are enough.
        is_enough: whether fewer are; it is never asked for none.
    """
    size = max(1, len(values) // 2)
    while True:
        place = 0
        while place < len(values):
            left = values[:place] + values[place + size :]
            if left and is_enough(left):
                values = left
            else:
                place += size
        if size == 1:
            return values
        size = max(1, size // 2)


def decisive(
    model: ReducibleModel, steps: Sequence[Step], whole: SubHistory
) -> Iterator[list[Hashable]]:
    """Yields the fewest values for which the last call can't follow the linearization before it.

    Where lost calls may have done away with a value, more of the same are yielded at last.

    First without those of calls that may yet come before it: an element that is in its way shows
    nothing if a take of it is open. Then with all. First of the values updated late, then of those
    updated early: what is on top of a stack counts, or what was surely in a set. Replayed in the
    order of that linearization, so they may be too few where there are others; one step of the
    model for each update and each of some 2 log n tries.

    Args:
        model: the model.
        steps: the longest linearization before the last call.
        whole: all calls up to the last one's completion.
    """
    stuck = whole.last_to_return().call
    own = model.values(stuck)
    updates = [call for call in _effective(model, steps) if not model.is_pure(call)]
    about = [(call, model.values(call)) for call in updates]
    placed = list(dict.fromkeys(v for _, some in about for v in sorted(some, key=repr)))
    unplaced = sorted(own.difference(placed), key=repr)
    may_come = [model.values(one.call) for one in whole.entries if not one.is_required]
    unsure = frozenset().union(*may_come) - own
    sure = [value for value in placed if value not in unsure]
    for some in [sure, placed] if len(sure) < len(placed) else [placed]:
        if [*some, *unplaced] and _is_refused(model, updates, stuck, AllBut([*some, *unplaced])):
            for values in (some, some[::-1]):  # the first are left out first
                yield _fewest_refused(model, about, stuck, [*values, *unplaced])
    if isinstance(model, SparingModel):
        yield from _each_refused(model, whole, sure)


def _effective(model: ReducibleModel, steps: Sequence[Step]) -> Iterator[Hashable]:
    """Yields the calls of steps, and of what was lost that which it did there."""
    state = model.init()
    for step in steps:
        call = step.entry.call
        yield model.done(state, call) if isinstance(model, SparingModel) else call
        state = step.state


def _each_refused(
    model: ReducibleModel, whole: SubHistory, values: Sequence[Hashable]
) -> Iterator[list[Hashable]]:
    """Yields ever more of the values each of which is enough with the last call's own.

    Calls about no value are not looked at here: those that were lost may have done away with some
    of these values, but seldom with all.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    about: dict[Hashable, set[Entry]] = defaultdict(set)
    for entry in whole.entries:
        for value in model.values(entry.call):
            about[value].add(entry)
    about_own = {last}.union(*(about[value] for value in own))

    def is_enough(value: Hashable) -> bool:
        entries = tuple(sorted(about[value] | about_own, key=_begin))
        is_short = len(entries) <= _MOST_CALLS
        return is_short and is_linearizable(model, replace(whole, entries=entries)) is False

    enough = [value for value in values if value not in own and is_enough(value)]
    for size in range(2, min(len(enough), _MOST_EACH) + 1):
        yield [*sorted(own, key=repr), *enough[:size]]


def _fewest_refused(
    model: ReducibleModel,
    about: Sequence[tuple[Hashable, frozenset[Hashable]]],
    stuck: Hashable,
    values: list[Hashable],
) -> list[Hashable]:
    """Returns the fewest values for which a call is refused after updates, each with its values."""

    def is_enough(kept: list[Hashable]) -> bool:
        nonlocal about
        some = frozenset(kept)
        left = [(call, own) for call, own in about if not own or not own.isdisjoint(some)]
        if not _is_refused(model, [call for call, _ in left], stuck, AllBut(some)):
            return False
        about = left
        return True

    return fewest(values, is_enough)


def _is_refused(
    model: ReducibleModel, updates: Sequence[Hashable], stuck: Hashable, left_out: AllBut
) -> bool:
    """Says whether a call is not legal after updates that are, some values left out of them all."""
    state: Hashable | None = model.init()
    for update in updates:
        call = model.without(update, left_out)
        state = state if call is None else model.step(state, call)
        if state is None:
            return False
    call = model.without(stuck, left_out)
    return call is not None and model.step(state, call) is None


def by_closeness(model: ReducibleModel, whole: SubHistory) -> list[Hashable]:
    """Returns all values, those of the last call to return first, then by how near they came.

    Of those as near as each other the order must not be a set's, which differs between processes.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    about = [(one.operation.invoke_index, one.call) for one in whole.entries]
    moments = [at for at, call in about if not own.isdisjoint(model.values(call))]
    moments = moments or [last.operation.invoke_index]

    def distance_of(at: int) -> int:
        return min(abs(at - moments[0]), abs(at - moments[-1]))

    nearest: dict[Hashable, int] = dict.fromkeys(own, -1)
    for at, call in sorted(about, key=lambda one: distance_of(one[0])):
        for value in model.values(call):
            if value not in nearest:
                nearest[value] = distance_of(at)
    return sorted(nearest, key=lambda value: (nearest[value], repr(value)))


def _begin(entry: Entry) -> int:
    return entry.operation.invoke_index
