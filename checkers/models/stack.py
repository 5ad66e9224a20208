"""The stack: push, and pop of what came last. Elements are compared as JSON."""

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, Final

from typing_extensions import override

from checkers.calls.containers import ContainerCalls, StackCalls
from checkers.models.container import Container
from checkers.models.lives import NEVER, Life, lives_of
from checkers.models.lost_takes import uncovered, with_lost_takes
from checkers.models.reducible import Events, Turn

_MOST_WORK: Final = 20_000_000
"""So many elements are looked at for an order, an element once for each level that it lies at."""


class Stack(Container):
    """A last-in-first-out stack; its state is the elements, the last one last."""

    name = "stack"
    put = "push"
    take = "pop"
    kind: ClassVar[type[ContainerCalls]] = StackCalls
    next_out = -1

    @override
    def turns(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[Turn | None] | None:
        """Each element's put and take, so that none lies on what is taken before it."""
        calls = with_lost_takes(calls, events, uncovered)
        lives = lives_of(calls, events)
        nested = None if lives is None else _nested(lives)
        if nested is None:
            return None
        places = {turn: place for place, (_, turn) in enumerate(nested)}
        return [Turn("moments", places[call]) if call in places else None for call in calls]


_Moment = tuple[tuple[int, bool], Hashable]
"""(The event that it is next to, whether it is after that), the call."""


def _nested(lives: Sequence[Life]) -> list[_Moment] | None:
    """Returns when each element is put and taken, in order; None if they can't have been nested.

    As `checkers.engines.stacks` decides: what was put before a stretch of time without an empty
    stack and taken after it can lie at the bottom all along. Here all of these do so at once, on
    each other.
    """
    moments: list[_Moment] = []
    cores = sorted(
        (life for life in lives if life.put_over < life.take), key=lambda life: life.put_over
    )
    waiting: list[tuple[list[Life], list[_Moment]]] = [(one, []) for one in _stretches(cores)]
    waiting.reverse()
    work = 0
    while waiting:
        stretch, closing = waiting.pop()
        work += len(stretch)
        if stretch:
            begun, ended = stretch[0].put_over, max(life.take for life in stretch)
            bottom = [one for one in stretch if one.put < begun and one.take_over >= ended]
            if not bottom or work > _MOST_WORK:
                return None
            moments += [((begun, False), ("put", one.element)) for one in bottom]
            taken = [one for one in reversed(bottom) if one.take != NEVER]
            waiting.append(([], [((ended, True), ("take", one.element)) for one in taken]))
            lying = {one.element for one in bottom}
            rest = [one for one in stretch if one.element not in lying]
            waiting += [(one, []) for one in reversed(list(_stretches(rest)))]
        moments += closing
    for life in lives:
        if life.take <= life.put_over and life.take != NEVER:
            at = (life.take, True)
            moments += [(at, ("put", life.element)), (at, ("take", life.element))]
    return sorted(moments, key=lambda moment: moment[0])


def _stretches(cores: Sequence[Life]) -> Iterator[list[Life]]:
    """Yields the elements, by when they are surely put, cut where none of them is surely there."""
    stretch: list[Life] = []
    until = -1
    for life in cores:
        if stretch and life.put_over > until:
            yield stretch
            stretch = []
        stretch.append(life)
        until = max(until, life.take)
    if stretch:
        yield stretch
