"""A sweep over the completions of a broker id, with the possible states of the controller at each.

A *configuration* has the open calls with a place in the order, the state of the controller, and the
indeterminate calls that took effect. A call is placed only when another call has to return, and
only until the returning call has a place (after Lowe, "Testing for linearizability", 2017).
Indeterminate calls have no deadline, so only the count of equal ones matters. A call without an
effect is placed as soon as it is legal. A *narrow* sweep keeps few configurations: if it passes, an
order exists. A *relaxed* sweep repeats indeterminate calls without limit: if it fails, none does.
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
    IndeterminateCalls,
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
_INDETERMINATE: Final = frozenset({MAY_BE_GRANTED, MAY_BE_ENDED})


class LimitReachedError(Exception):
    """A sweep exceeds a limit, which the message names."""


class Sweep:
    """A sweep over the calls of a broker id."""

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
        """Take the calls of a broker id.

        Args:
            calls: The calls of all broker ids.
            start: The broker id's first call.
            end: The next broker id's first call.
            limits: The limits.
            deadline: The time at which the sweep ends.
            cut: The event after which calls do not count.
            is_narrow: Whether only the best configurations are kept.
            is_relaxed: Whether indeterminate calls take effect without limit.
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
        self._indeterminate = RelaxedCalls() if is_relaxed else IndeterminateCalls()
        self._last_about = self._find_last_about()
        self._frontier = self._none()
        self._frontier.add(Configuration(0, State(0, VACANT, ANYBODY), 0, 0, None))

    def find_first_illegal(self) -> int | None:
        """Return the first call whose completion no legal order reaches; None if all are reached.

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
            elif self._action[number] in _INDETERMINATE:
                self._indeterminate.add(self._kind(number))
            else:
                self._open.open(number, is_returning=self._complete[number] <= self._cut)
        return None

    def order(self) -> list[int]:
        """Return the updates that were placed on one way through, in their order."""
        step = next(iter(self._frontier)).steps
        steps: list[Step] = []
        while step is not None:
            steps.append(step)
            step = step.before
        indeterminate = [
            number for number, action in enumerate(self._action) if action in _INDETERMINATE
        ]
        found: list[int] = []
        for _, returning, number, kind in reversed(steps):
            if number < 0:
                number = next(n for n in indeterminate if self._is_of_kind(n, kind, returning))  # noqa: PLW2901
                indeterminate.remove(number)
            found.append(number)
        return found

    def _events(self) -> list[tuple[int, int]]:
        events = [*zip(self._invoke, range(len(self._invoke)), strict=True)]
        events += zip(self._complete, range(len(self._complete)), strict=True)
        return sorted(one for one in events if one[0] <= self._cut and one[0] != NEVER)

    def _find_last_about(self) -> dict[int, int]:
        """Return the last completion that makes a difference between incarnations, for each."""
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
        """Return whether an indeterminate call was one of a kind when another returned."""
        at = self._complete[returning]
        if self._invoke[number] > at or (self._action[number] == MAY_BE_ENDED) != (kind == ENDS):
            return False
        if kind == ANYBODY:
            return self._last_about.get(self._incarnation[number], -1) < at
        return kind in {ENDS, self._incarnation[number]}

    def _forget(self, incarnation: int) -> None:
        """Merge an incarnation with all others without a later call about them."""
        if incarnation not in self._indeterminate.kinds:
            return
        mapped = self._indeterminate.forget(incarnation)
        frontier = self._none()
        for one in self._frontier:
            largest, kind, holder = one.state
            is_it = kind == UNTOLD and holder == incarnation
            state = State(largest, kind, ANYBODY) if is_it else one.state
            frontier.add(one._replace(state=state, used=mapped(one.used)))
        self._frontier = frontier

    def _pass(self, returning: int) -> None:
        """Place a returning call, in every configuration that has not placed it yet."""
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
        return (
            NarrowFrontier(self._indeterminate)
            if self._is_narrow
            else Frontier(self._indeterminate)
        )

    def _hopeful(self, some: Iterable[Configuration]) -> list[Configuration]:
        """Return the configurations; in a narrow sweep, without hopeless ones."""
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
        """Place what is legal and leaves the state as it is."""
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
        """Yield the successors by an update or an indeterminate update.

        Unregistrations have equal effects, so the first to return goes first. An indeterminate call
        goes just before an answer that needs it: it can be left out before an update, which is
        legal without it.
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
        for kind in self._indeterminate.left(used):
            after = _after_indeterminate(state, kind)
            if after is None:
                continue
            step = Step(steps, returning, -1, kind)
            more = self._indeterminate.with_one_more(used, kind)
            if self._open.answered(after) & ~done:
                yield Configuration(placed, after, answered, more, step)

    def _first_end(self, done: int) -> int | None:
        """Return the open unregistration without a place that returns first."""
        ends = [
            number
            for number, bit in self._open.updates.items()
            if self._action[number] == ENDED and not done & bit
        ]
        return min(ends, key=self._complete.__getitem__, default=None)

    def _after(self, state: State, number: int) -> State | None:
        largest, kind, holder = state
        if self._action[number] == ENDED:
            return State(largest, VACANT, ANYBODY)
        epoch, incarnation = self._epoch[number], self._incarnation[number]
        is_same = kind == RENEWED and (largest, holder) == (epoch, incarnation)
        return State(epoch, HELD, incarnation) if is_same or epoch > largest else None


def _after_indeterminate(state: State, kind: int) -> State | None:
    """Return the state after an indeterminate call, None if it allows no more than before."""
    largest, held, holder = state
    if kind == ENDS:
        return None if held == VACANT else State(largest, VACANT, ANYBODY)
    if held >= HELD and holder == kind:
        return State(largest, RENEWED, holder) if held == HELD else None
    is_there = held == UNTOLD and holder in {kind, ANYBODY}
    return None if is_there else State(largest, UNTOLD, kind)
