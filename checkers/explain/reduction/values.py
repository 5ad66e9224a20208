"""Chooses the values of a history that are likely to prove the history invalid.

The choices are heuristic proposals; an engine decides the reduced history
(`checkers.explain.reduction.minimise`).
"""

from collections.abc import Callable, Hashable

from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.models.reducible import ReducibleModel


def fewest(
    values: list[Hashable],
    is_enough: Callable[[list[Hashable]], bool],
    has_time: Callable[[], bool] = lambda: True,
) -> list[Hashable]:
    """Return a minimal sufficient subset of the values, if the time allowed.

    Leaves out chunks, each half as large as before (Zeller & Hildebrandt 2002).

    Args: values: the values, which suffice.
        is_enough: whether a subset suffices; never called with an empty subset.
        has_time: whether to go on.
    """
    size = max(1, len(values) // 2)
    while True:
        place = 0
        while place < len(values) and has_time():
            left = values[:place] + values[place + size :]
            if left and is_enough(left):
                values = left
            else:
                place += size
        if size == 1 or not has_time():
            return values
        size = max(1, size // 2)


def by_closeness(model: ReducibleModel, whole: SubHistory) -> list[Hashable]:
    """Return all values: first the values of the last call, then by distance in time to these.

    Values at the same distance are sorted, since the order of a set differs between processes.
    """
    last = whole.last_to_return()
    own = model.values(last.call)
    about = [(one.operation.invoke_index, one.call) for one in whole.entries]
    first, final = (
        next((at for at, call in some if not own.isdisjoint(model.values(call))), None)
        for some in (about, reversed(about))
    )
    moments = [last.operation.invoke_index] if first is None or final is None else [first, final]

    def distance_of(at: int) -> int:
        return min(abs(at - moment) for moment in moments)

    nearest: dict[Hashable, int] = dict.fromkeys(own, -1)
    for at, call in sorted(about, key=lambda one: distance_of(one[0])):
        new = model.values(call).difference(nearest)
        nearest.update(dict.fromkeys(new, distance_of(at)))
    return sorted(nearest, key=lambda value: (nearest[value], repr(value)))
