"""Intervals of each element's put and take, for the order hints of containers."""

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from kraftproof.checkers.models.reducible import Events

NEVER: Final = 1 << 63


class ElementInterval(NamedTuple):
    """The intervals of an element's put and take, by events; NEVER for an unknown event.

    The interval is normalised: a put completes before its take completes, and a take begins after
    its put begins.
    """

    element: Hashable
    put: int
    put_over: int
    take: int
    take_over: int


def element_intervals(
    calls: Sequence[Hashable], events: Sequence[Events]
) -> list[ElementInterval] | None:
    """Return the life of each element that was put; None unless each was put and taken once.

    What may as well not have happened counts where nothing else puts or takes the element.
    """
    about = [call for call in calls if isinstance(call, tuple)]
    surest = sorted(zip(about, events, strict=True), key=lambda one: one[1][1] is None)
    found: dict[Hashable, ElementInterval] = {}
    for action in ("put", "take"):
        for (f, element), (begun, over) in surest:
            if f != action or (action == "take" and element not in found):
                continue
            lifetime = found.get(element, ElementInterval(element, NEVER, NEVER, NEVER, NEVER))
            if (lifetime.put if action == "put" else lifetime.take) == NEVER:
                end = NEVER if over is None else over
                at = {action: begun, f"{action}_over": end}
                found[element] = lifetime._replace(**at)
            elif over is not None:
                return None
    return [
        lifetime._replace(
            put_over=min(lifetime.put_over, lifetime.take_over),
            take=max(lifetime.put, lifetime.take),
        )
        for lifetime in found.values()
    ]
