"""A sweep over the completions of one broker id, with all that the controller may hold at each.

A *configuration* is which of the open calls have their place already, what the controller holds,
and which of the lost calls took effect. Nothing is placed before something has to return, and then
only until that is placed (after Lowe, "Testing for linearizability", 2017). Lost calls have no
deadline, so of those that do the same only their number counts; and a lost registration does the
same as any other once the last call is over that is about its incarnation: a refusal of it, a grant
to it, or an accepted heartbeat with an epoch that was granted to it. So few kinds are alive at a
time, and the frontier stays small.

Calls that leave the state as it is are placed as soon as they are legal, which costs nothing. A
configuration is left out if another can do all that it can (`registration_frontier`).

A *narrow* sweep keeps few configurations, and none in which an open call can't be answered any
more: if it passes, an order exists. An *endless* one repeats lost calls; if it fails, none does.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from kraftproof.checkers.calls.registration import (
    ALIVE,
    DUPLICATE,
    ENDED,
    GRANTED,
    MAY_BE_ENDED,
    MAY_BE_GRANTED,
    RegistrationCalls,
)
from kraftproof.checkers.engines.kraft.registration_frontier import (
    Configuration,
    Frontier,
    NarrowFrontier,
    Step,
)
from kraftproof.checkers.engines.kraft.registration_indeterminate import (
    ENDS,
    LostCalls,
    RelaxedCalls,
)
from kraftproof.checkers.engines.kraft.registration_open import (
    ANYBODY,
    HELD,
    RENEWED,
    UNTOLD,
    VACANT,
    OpenCalls,
    State,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

_CONFIGURATION_BYTES: Final = 500
_CLOCK_STRIDE: Final = 256
_LOST: Final = frozenset({MAY_BE_GRANTED, MAY_BE_ENDED})


class LimitReachedError(Exception):
    """A sweep takes more than it may; its words say which limit."""


class Sweep:
    """A sweep over the calls of one broker id."""

    def __init__(
        self,
        calls: RegistrationCalls,
        start: int,
        end: int,
        limits: Limits,
        *,
        deadline: float,
        cut: int = NEVER,
        is_narrow: bool = False,
        is_relaxed: bool = False,
    ) -> None:
        """Takes the calls from one to another.

        Args:
            calls: the calls of all broker ids.
            start: the first of this one.
            end: the first of the next one.
            limits: what it may take.
            deadline: when its time is over.
            cut: an event, up to which only they count.
            is_narrow: whether only the best configurations are kept; what is stuck then may not be.
            is_relaxed: whether lost calls take effect as often as they like; what is stuck then is.
        """
        self._action: list[int] = calls.action[start:end].tolist()
        self._incarnation: list[int] = calls.incarnation[start:end].tolist()
        self._epoch: list[int] = calls.epoch[start:end].tolist()
        self._invoke: list[int] = calls.invoke[start:end].tolist()
        self._complete: list[int] = calls.complete[start:end].tolist()
        self._cut = cut
        self._limits = limits
        self._deadline = deadline
        self._is_narrow = is_narrow
        self._looked_at = 0
        self._open = OpenCalls(self._action, self._incarnation, self._epoch)
        self._lost = RelaxedCalls() if is_relaxed else LostCalls()
        self._last_about = self._find_last_about()
        self._frontier = self._none()
        self._frontier.add(Configuration(0, State(0, VACANT, ANYBODY), 0, 0, None))

    def first_stuck(self) -> int | None:
        """Returns the first call whose completion no legal order reaches; None if all are reached.

        Raises:
            LimitReachedError: a limit was reached.
        """
        over: defaultdict[int, list[int]] = defaultdict(list)
        for incarnation, event in self._last_about.items():
            over[event].append(incarnation)
        for event, number in self._events():
            if event == self._complete[number]:
                self._pass(number)
                if not self._frontier.size:
                    return number
                for incarnation in over[event]:
                    self._forget(incarnation)
            elif self._action[number] in _LOST:
                self._lost.add(self._kind(number))
            else:
                self._open.open(number, is_returning=self._complete[number] <= self._cut)
        return None

    def order(self) -> list[int]:
        """Returns the updates that were placed on one way through, in their order."""
        step = next(iter(self._frontier)).steps
        steps: list[Step] = []
        while step is not None:
            steps.append(step)
            step = step.before
        lost = [number for number, action in enumerate(self._action) if action in _LOST]
        found: list[int] = []
        for _, returning, number, kind in reversed(steps):
            if number < 0:
                number = next(n for n in lost if self._is_of_kind(n, kind, returning))  # noqa: PLW2901
                lost.remove(number)
            found.append(number)
        return found

    def _events(self) -> list[tuple[int, int]]:
        events = [*zip(self._invoke, range(len(self._invoke)), strict=True)]
        events += zip(self._complete, range(len(self._complete)), strict=True)
        return sorted(one for one in events if one[0] <= self._cut and one[0] != NEVER)

    def _find_last_about(self) -> dict[int, int]:
        """Returns the last completion that makes a difference between incarnations, for each."""
        granted: defaultdict[int, set[int]] = defaultdict(set)
        for action, incarnation, epoch in zip(
            self._action, self._incarnation, self._epoch, strict=True
        ):
            if action == GRANTED:
                granted[epoch].add(incarnation)
        last: dict[int, int] = {}
        for number, action in enumerate(self._action):
            about = {self._incarnation[number]} if action in {GRANTED, DUPLICATE} else set()
            if action == ALIVE:
                about = granted[self._epoch[number]]
            for incarnation in about:
                last[incarnation] = max(last.get(incarnation, -1), self._complete[number])
        return last

    def _kind(self, number: int) -> int:
        if self._action[number] == MAY_BE_ENDED:
            return ENDS
        incarnation = self._incarnation[number]
        is_over = self._last_about.get(incarnation, -1) < self._invoke[number]
        return ANYBODY if is_over else incarnation

    def _is_of_kind(self, number: int, kind: int, returning: int) -> bool:
        """Says whether a lost call was one of a kind when another returned."""
        at = self._complete[returning]
        if self._invoke[number] > at or (self._action[number] == MAY_BE_ENDED) != (kind == ENDS):
            return False
        if kind == ANYBODY:
            return self._last_about.get(self._incarnation[number], -1) < at
        return kind in {ENDS, self._incarnation[number]}

    def _forget(self, incarnation: int) -> None:
        """Makes an incarnation one with all others that no later call is about."""
        if incarnation not in self._lost.kinds:
            return
        mapped = self._lost.forget(incarnation)
        frontier = self._none()
        for one in self._frontier:
            largest, kind, holder = one.state
            is_it = kind == UNTOLD and holder == incarnation
            state = State(largest, kind, ANYBODY) if is_it else one.state
            frontier.add(one._replace(state=state, used=mapped(one.used)))
        self._frontier = frontier

    def _pass(self, returning: int) -> None:
        """Places a call that returns, in every configuration that has not placed it yet."""
        bit = self._open.bits[returning]
        passed, seen = self._none(), self._none()
        waiting = self._hopeful(self._frontier)
        while waiting:
            placed, state, answered, used, _ = one = waiting.pop()
            if not (placed | answered) & bit:
                one = self._settled(one, returning)
                answered = one.answered
            if (placed | answered) & bit:
                passed.add(Configuration(placed & ~bit, state, answered & ~bit, used, one.steps))
            elif seen.add(one):
                waiting.extend(self._hopeful(self._choices(one, returning)))
                self._spend(seen.size + passed.size + len(waiting))
        self._open.close(returning)
        self._frontier = passed

    def _none(self) -> Frontier:
        return NarrowFrontier(self._lost) if self._is_narrow else Frontier(self._lost)

    def _hopeful(self, some: Iterable[Configuration]) -> list[Configuration]:
        """Returns configurations, of a narrow sweep those in which all that returns can have."""
        if not self._is_narrow:
            return list(some)
        doomed = self._open.doomed
        return [one for one in some if not doomed(one.state) & ~(one.placed | one.answered)]

    def _spend(self, size: int) -> None:
        self._looked_at += 1
        if self._looked_at % _CLOCK_STRIDE:
            return
        if time.monotonic() > self._deadline:
            raise LimitReachedError(f"no verdict within {self._limits.seconds:g} s")
        if size * _CONFIGURATION_BYTES > self._limits.memory_bytes:
            raise LimitReachedError(f"no verdict within {self._limits.memory_bytes} bytes")

    def _settled(self, one: Configuration, returning: int) -> Configuration:
        """Places what is legal and leaves the state as it is."""
        placed, state, answered, used, steps = one
        new = self._open.answered(state) & ~(placed | answered)
        if not new:
            return one
        if again := new & self._open.granted_again(state):
            for number, bit in self._open.updates.items():
                if again & bit:
                    steps = Step(steps, returning, number)
        return Configuration(placed, state, answered | new, used, steps)

    def _choices(self, one: Configuration, returning: int) -> Iterator[Configuration]:
        """Yields what an update, or a lost one, leads to.

        Unregistrations do the same, so the one that returns first goes first. A lost call goes just
        before what it makes legal: it can be left out before an update that is legal without it.
        """
        placed, state, answered, used, steps = one
        done = placed | answered
        first_end = self._first_end(done)
        for number, bit in self._open.updates.items():
            if done & bit or (self._action[number] == ENDED and number != first_end):
                continue
            after = self._after(state, number)
            if after is not None:
                step = Step(steps, returning, number)
                yield Configuration(placed | bit, after, answered, used, step)
        for kind in self._lost.left(used):
            after = _after_lost(state, kind)
            if after is None:
                continue
            step = Step(steps, returning, -1, kind)
            more = self._lost.with_one_more(used, kind)
            if self._open.answered(after) & ~done:
                yield Configuration(placed, after, answered, more, step)
            elif state.kind == VACANT and first_end is not None:
                end = Step(step, returning, first_end)
                placed_too = placed | self._open.bits[first_end]
                yield Configuration(placed_too, state, answered, more, end)

    def _first_end(self, done: int) -> int | None:
        """Returns the open unregistration that returns first, of those that have no place yet."""
        ends = [
            number
            for number, bit in self._open.updates.items()
            if self._action[number] == ENDED and not done & bit
        ]
        return min(ends, key=self._complete.__getitem__, default=None)

    def _after(self, state: State, number: int) -> State | None:
        largest, kind, holder = state
        if self._action[number] == ENDED:
            return None if kind == VACANT else State(largest, VACANT, ANYBODY)
        epoch, incarnation = self._epoch[number], self._incarnation[number]
        is_same = kind == RENEWED and (largest, holder) == (epoch, incarnation)
        return State(epoch, HELD, incarnation) if is_same or epoch > largest else None


def _after_lost(state: State, kind: int) -> State | None:
    """Returns the state after a lost call, None if it is none from which more is possible."""
    largest, held, holder = state
    if kind == ENDS:
        return None if held == VACANT else State(largest, VACANT, ANYBODY)
    if held >= HELD and holder == kind:
        return State(largest, RENEWED, holder) if held == HELD else None
    is_there = held == UNTOLD and holder in {kind, ANYBODY}
    return None if is_there else State(largest, UNTOLD, kind)
