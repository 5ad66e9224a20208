"""The queue: enqueue, and dequeue of what came first. Elements are compared as JSON."""

from collections.abc import Hashable, Sequence
from heapq import heappop, heappush
from typing import ClassVar

from typing_extensions import override

from checkers.calls.containers import ContainerCalls, QueueCalls
from checkers.models.container import Container
from checkers.models.lives import Life, lives_of
from checkers.models.lost_takes import overtaken, with_lost_takes
from checkers.models.reducible import Events, Turn


class Queue(Container):
    """A first-in-first-out queue; its state is the elements, the first one first."""

    name = "queue"
    put = "enqueue"
    take = "dequeue"
    kind: ClassVar[type[ContainerCalls]] = QueueCalls

    @override
    def turns(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[Turn | None] | None:
        """Each element's put and take, in an order of the elements that both allow.

        Nobody minds an early take, and it lets others find none.
        """
        calls = with_lost_takes(calls, events, overtaken)
        lives = lives_of(calls, events)
        places = None if lives is None else _in_order(lives)
        if places is None:
            return None
        about = [call for call in calls if isinstance(call, tuple)]
        return [
            Turn(action, places[element], is_eager=action == "take") if element in places else None
            for action, element in about
        ]


def _in_order(lives: Sequence[Life]) -> dict[Hashable, int] | None:
    """Returns the place of each element; None if no order suits puts and takes both.

    One element is before another if its put was over before the other's began, or its take was. The
    next is one that no other has to be before, of these the first to be put for sure; O(n log n).
    """
    begun = sorted(range(len(lives)), key=lambda n: lives[n].put, reverse=True)
    put_over = sorted(range(len(lives)), key=lambda n: lives[n].put_over, reverse=True)
    take_over = sorted(range(len(lives)), key=lambda n: lives[n].take_over, reverse=True)
    is_placed = [False] * len(lives)
    places: dict[Hashable, int] = {}
    begun_to_put: list[tuple[int, int]] = []
    next_ones: list[tuple[int, int]] = []
    while len(places) < len(lives):
        first_put = lives[_first_left(put_over, is_placed)].put_over
        first_take = lives[_first_left(take_over, is_placed)].take_over
        while begun and lives[begun[-1]].put <= first_put:
            number = begun.pop()
            heappush(begun_to_put, (lives[number].take, number))
        while begun_to_put and begun_to_put[0][0] <= first_take:
            _, number = heappop(begun_to_put)
            heappush(next_ones, (lives[number].put_over, number))
        if not next_ones:
            return None
        _, number = heappop(next_ones)
        is_placed[number] = True
        places[lives[number].element] = len(places)
    return places


def _first_left(ordered: list[int], is_placed: Sequence[bool]) -> int:
    """Returns the last of the numbers that is not placed; those after it are taken away."""
    while is_placed[ordered[-1]]:
        ordered.pop()
    return ordered[-1]
