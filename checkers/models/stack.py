"""The stack: push, and pop of what came last. Elements are compared as JSON."""

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.checkers.calls.containers import ContainerCalls, StackCalls
from kraftproof.checkers.models.container import Container
from kraftproof.checkers.models.element_intervals import NEVER, ElementInterval, element_intervals
from kraftproof.checkers.models.reducible import Events, OrderHint, Span
from kraftproof.checkers.models.unmatched_takes import uncovered, with_unmatched_takes

_MOST_WORK: Final = 20_000_000
"""Maximum work for one order: each element counts once for each nesting level."""


class Stack(Container):
    """A last-in-first-out stack; its state is the elements, the last one last."""

    name = "stack"
    put = "push"
    take = "pop"
    kind: ClassVar[type[ContainerCalls]] = StackCalls
    next_out = -1

    @override
    def leaves_before(self, other: Hashable, put: Span, item: Hashable, own: Span) -> bool:
        """Return whether the other element was put on top."""
        return own[1] < put[0]

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Return places of puts and takes, with no element on top of one taken earlier."""
        calls = with_unmatched_takes(calls, events, _deadlines)
        lifetimes = element_intervals(calls, events)
        moments, must_go = (None, {}) if lifetimes is None else _nested(lifetimes)
        if moments is None or must_go:
            return None
        places = {turn: place for place, (_, turn) in enumerate(moments)}
        return [OrderHint("moments", places[call]) if call in places else None for call in calls]


_Moment = tuple[tuple[int, bool], Hashable]
"""(The nearest event, whether the call comes after the event), the call."""


def _deadlines(lifetimes: Sequence[ElementInterval]) -> list[int]:
    """Return by when each element must have been taken, as far as is known."""
    _, must_go = _nested(lifetimes)
    due = zip(uncovered(lifetimes), lifetimes, strict=True)
    return [min(at, must_go.get(lifetime.element, NEVER)) for at, lifetime in due]


def _nested(
    lifetimes: Sequence[ElementInterval],
) -> tuple[list[_Moment] | None, dict[Hashable, int]]:
    """Return when each element is put and taken, in order, and by when others must have been.

    No order exists if the intervals cannot be nested. The deadlines are for elements without a
    known take: the nesting fails with them, so they must have been taken.

    As `checkers.engines.containers.stack` decides: what was put before a stretch of time without an
    empty stack and taken after it can lie at the bottom all along. Here all such elements are
    placed at once, on top of each other.
    """
    moments: list[_Moment] = []
    must_go: dict[Hashable, int] = {}
    cores = sorted(
        (lifetime for lifetime in lifetimes if lifetime.put_over < lifetime.take),
        key=lambda lifetime: lifetime.put_over,
    )
    waiting: list[tuple[list[ElementInterval], list[_Moment]]] = [
        (one, []) for one in _stretches(cores)
    ]
    waiting.reverse()
    work = 0
    while waiting:
        stretch, closing = waiting.pop()
        work += len(stretch)
        if stretch:
            begun, ended = stretch[0].put_over, max(lifetime.take for lifetime in stretch)
            bottom = [one for one in stretch if one.put < begun and one.take_over >= ended]
            gone = {} if bottom else _first_gone(stretch)
            if work > _MOST_WORK or not (bottom or gone):
                return None, must_go
            moments += [((begun, False), ("put", one.element)) for one in bottom]
            taken = [one for one in reversed(bottom) if one.take != NEVER]
            waiting.append(([], [((ended, True), ("take", one.element)) for one in taken]))
            must_go.update(gone)
            done = {one.element for one in bottom} | gone.keys()
            rest = [one for one in stretch if one.element not in done]
            waiting += [(one, []) for one in reversed(list(_stretches(rest)))]
        moments += closing
    for lifetime in lifetimes:
        if lifetime.take <= lifetime.put_over and lifetime.take != NEVER:
            at = (lifetime.take, True)
            moments += [(at, ("put", lifetime.element)), (at, ("take", lifetime.element))]
    return sorted(moments, key=lambda moment: moment[0]), must_go


def _first_gone(stretch: Sequence[ElementInterval]) -> dict[Hashable, int]:
    """Return an element that leaves the stretch without a bottom, and its deadline.

    Until the put of this element, elements that were taken cover the stretch. One of them was at
    the bottom, so this element was above and was taken earlier.
    """
    begun = until = stretch[0].put_over
    for lifetime in stretch:
        if lifetime.put_over > until or lifetime.take == NEVER:
            break
        until = max(until, lifetime.take)
    else:
        return {}
    below = max(one.take_over for one in stretch if one.put < begun)
    return {lifetime.element: below} if lifetime.put_over <= until else {}


def _stretches(cores: Sequence[ElementInterval]) -> Iterator[list[ElementInterval]]:
    """Yield the elements in the order of `put_over`, split where no element is surely inside."""
    stretch: list[ElementInterval] = []
    until = -1
    for lifetime in cores:
        if stretch and lifetime.put_over > until:
            yield stretch
            stretch = []
        stretch.append(lifetime)
        until = max(until, lifetime.take)
    if stretch:
        yield stretch
