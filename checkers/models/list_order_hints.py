"""Order hints for appends, for histories of appends and reads of one list each.

The longest read of a list says in which order its elements were appended. Where equal elements were
appended, `checkers.calls.lists.places` says which append it was.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.models.reducible import Events, OrderHint

Action = tuple[bool, str, Hashable]
"""(whether the action is a read, its list, the appended element or the elements read)."""
Elements = tuple[Hashable, ...]


def order_of_appends(
    actions: Sequence[Action], events: Sequence[Events]
) -> Sequence[OrderHint | None] | None:
    """Return the position of each append, None for reads and for omitted calls.

    None if calls that repeat elements have no legal order.

    Args:
        actions: one of each call, by invocation.
        events: those of each call.
    """
    longest: dict[str, Elements] = {}
    for is_read, name, value in actions:
        if is_read and isinstance(value, tuple) and len(value) > len(longest.get(name, ())):
            longest[name] = value
    first: dict[tuple[str, Hashable], int] = {}
    for number, (is_read, name, value) in enumerate(actions):
        if not is_read:
            first.setdefault((name, value), number)
    if len(first) < sum(not is_read for is_read, *_ in actions):
        return _repeated(actions, events, longest, first)
    places = {
        (name, element): place
        for name, elements in longest.items()
        for place, element in enumerate(elements)
    }
    unread = len(places)
    return [
        None if is_read else OrderHint(name, places.get((name, value), unread + number))
        for number, (is_read, name, value) in enumerate(actions)
    ]


def _repeated(
    actions: Sequence[Action],
    events: Sequence[Events],
    longest: Mapping[str, Elements],
    first: Mapping[tuple[str, Hashable], int],
) -> Sequence[OrderHint | None] | None:
    from kraftproof.checkers.calls.lists.places import Places, appends_up_to  # compiled kernels

    numbers = {name: number for number, name in enumerate(dict.fromkeys(one[1] for one in actions))}
    elements = [
        first.get((name, element), -1) for name in numbers for element in longest.get(name, ())
    ]
    if -1 in elements:
        return None
    complete = np.array([NEVER if over is None else over for _, over in events])
    lengths = [len(value) if isinstance(value, tuple) else -1 for _, _, value in actions]
    places = Places(
        invoke=np.array([invoked for invoked, _ in events]),
        complete=complete,
        by_completion=np.argsort(complete, kind="stable"),
        list_number=np.array([numbers[name] for _, name, _ in actions]),
        first=np.array([first.get((name, value), -1) for _, name, value in actions]),
        length=np.array(lengths),
        elements=np.array(elements, dtype=np.int64),
        starts=np.cumsum([0, *(len(longest.get(name, ())) for name in numbers)]),
    )
    has_order, turns = appends_up_to(places, NEVER - 1)
    if not has_order:
        return None
    return [
        None if turn < 0 else OrderHint(name, turn)
        for turn, (_, name, _) in zip(turns.tolist(), actions, strict=True)
    ]
