"""Makes a legal order out of the hints that a model knows its updates to have.

A sweep over the completions, as `checkers.engines.wgl.search` makes, but without a choice: a pure
call is placed as soon as it is legal, and before a completion the next updates of the tracks, until
what completes is placed. O(n) steps of the model at a bounded number of tracks and of open calls.
Each call is checked against the model when placed, so every returned order is legal.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from kraftproof.checkers.engines.wgl.plan import Plan
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import OrderHint, is_reducible

_NO_HINT: Final = -1


def update_order(model: SequentialModel, plan: Plan, start: Hashable) -> list[int] | None:
    """Return the numbers of calls in an order that is legal from a state.

    None if the model's hints lead to no legal order.
    """
    if not is_reducible(model):
        return None
    events = [
        (one.invoke_index, one.complete_index if one.status == "ok" else None)
        for one in plan.operations
    ]
    hints = model.update_order(plan.calls, events)
    return None if hints is None else order_from_hints(model, plan, hints, start)


def order_from_hints(
    model: SequentialModel, plan: Plan, hints: Sequence[OrderHint | None], start: Hashable
) -> list[int] | None:
    """Return the numbers of calls in an order that has the hints given, and is legal.

    None if no such order exists; a call without a hint is placed as soon as legal, or omitted.
    """
    return _Merge(model=model, plan=plan, hints=list(hints), state=start).run()


@dataclass(slots=True, kw_only=True)
class _Merge:
    model: SequentialModel
    plan: Plan
    hints: list[OrderHint | None]
    state: Hashable
    order: list[int] = field(default_factory=list)
    is_placed: list[bool] = field(init=False)
    tracks: dict[str, list[int]] = field(init=False)
    names: list[str] = field(init=False)
    eager: list[str] = field(init=False)

    def run(self) -> list[int] | None:
        self.is_placed = [False] * len(self.hints)
        self.tracks = {}
        for number, hint in enumerate(self.hints):
            if hint is not None:
                self.tracks.setdefault(hint.track, []).append(number)
        for track in self.tracks.values():
            track.sort(key=lambda number: (-self._place(number), -number))
        self.names = sorted(self.tracks, reverse=True)
        eager = {hint.track for hint in self.hints if hint is not None and hint.is_eager}
        self.eager = [name for name in self.names if name in eager]
        for position, returning in enumerate(self.plan.returns):
            self._settle(position)
            while not self.is_placed[returning]:
                if not any(self._step(one) for one in self._candidates(position, returning)):
                    return None
                self._settle(position)
        return self.order

    def _place(self, number: int) -> int:
        hint = self.hints[number]
        return _NO_HINT if hint is None else hint.place

    def _settle(self, position: int) -> None:
        """Place the calls that are best placed at once: pure calls and eager calls."""
        is_changed = True
        while is_changed:
            for number in self.plan.open_pure[position]:
                if not self.is_placed[number]:
                    self._step(number)
            is_changed = any(map(self._step, self._eager(position)))

    def _eager(self, position: int) -> Iterator[int]:
        over = self.plan.operations[self.plan.returns[position]].complete_index
        for name in self.eager:
            for number in self._next_on(self.tracks[name]):
                hint = self.hints[number]
                if over is None or hint is None or not hint.is_eager:
                    break
                if self.plan.operations[number].invoke_index < over:
                    yield number

    def _candidates(self, position: int, returning: int) -> Iterator[int]:
        """Yield the candidates for the next place, first on the returning call's track."""
        over = self.plan.operations[returning].complete_index
        hint = self.hints[returning]
        if hint is None:
            yield returning
        own = () if hint is None else (hint.track,)
        for name in chain(own, self.names):
            for number in self._next_on(self.tracks[name]):
                if over is not None and self.plan.operations[number].invoke_index < over:
                    yield number

    def _next_on(self, track: list[int]) -> Iterator[int]:
        """Yield the next calls of a track: optional calls, up to the first required call."""
        while track and self.is_placed[track[-1]]:
            track.pop()
        for number in reversed(track):
            if not self.is_placed[number]:
                yield number
                if self.plan.operations[number].status == "ok":
                    return

    def _step(self, number: int) -> bool:
        """Place a call if the call is legal now, and return whether the call was placed."""
        following = self.model.step(self.state, self.plan.calls[number])
        if following is None:
            return False
        self.state = following
        self.is_placed[number] = True
        self.order.append(number)
        return True
