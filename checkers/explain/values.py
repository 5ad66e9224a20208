"""Which values of a history are likely to show that it is invalid, for the others to be left out.

Heuristics: they propose, and an engine decides what is left (`checkers.explain.minimise`).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence

from checkers.explain.subhistory import SubHistory
from checkers.explain.witness import Step
from checkers.models.reducible import AllBut, ReducibleModel


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
    updates = [step.entry.call for step in steps if not model.is_pure(step.entry.call)]
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
