"""A linearizability engine for any sequential model.

It searches depth first over *configurations*, in the just-in-time manner of Lowe ("Testing for
linearizability", 2017) after Wing and Gong: an operation is linearized only when some operation has
to return, and only if it is open at that moment. A configuration is

    (return, linearized, used, state)

`return` counts the completions passed, `linearized` marks the open required operations that are
already linearized, `used` marks the indeterminate operations that took effect, `state` is the
model's state. Delaying a linearization point up to the next completion never loses a legal order,
so the search is complete. Six rules keep it small and lose no legal order either:

1. A pure call that is legal in the present state is linearized at once: it changes no state, so it
   can move here from its place in any legal order.
2. An indeterminate call that would leave the state unchanged is not applied: it may as well never
   happen.
3. Of equal indeterminate calls, the earliest unused goes first; of equal open required calls, the
   first to return: equal calls can change places in any legal order.
4. A configuration is dropped if another with equal return, linearized and state used no more: the
   other can do whatever it can.
5. States that no call of the history distinguishes are merged (the model's `normal_form`).
6. If the model knows which calls commute, only calls on which a return depends are tried before it
   (`checkers.engines.wgl.dependence`).

Masks are as wide as the concurrency plus the indeterminate operations, not as the history. The
engine does not split by key (`checkers.judge.keys` does) and knows no model. Time and memory are
bounded; beyond a bound the answer is unknown. If the first `n` completions are linearizable and the
first `n + 1` are not, an `invalid` names the operation of completion `n + 1`; operations open at
that moment may have taken effect with the answers that they got later.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.engines.wgl.dependence import Dependence
from kraftproof.checkers.engines.wgl.memory import Weight
from kraftproof.checkers.engines.wgl.plan import Plan
from kraftproof.checkers.engines.wgl.trace import Configuration, Trace
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import CommutingModel, SequentialModel
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_CLOCK_STRIDE: Final = 256
"""So many configurations are looked at before the memory is, so many steps before the clock."""
_STATES_TOLD: Final = 4

Among = frozenset[Hashable] | None
"""The calls to try; None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found.

    Attributes:
        verdict: valid, invalid, or unknown when a limit was reached.
        configurations: how many configurations were looked at.
        first_illegal: if invalid, the first operation whose completion no legal order reaches.
        linearizable: how many completions some legal order reaches.
        states: some states in which the longest legal orders end, in words, sorted.
        reason: if unknown, which limit was reached.
    """

    verdict: Verdict
    configurations: int
    first_illegal: Operation | None = None
    linearizable: int = 0
    states: tuple[str, ...] = ()
    reason: str | None = None

    def among(self, operations: Sequence[Operation]) -> Outcome:
        """Return the outcome in the form of all engines: the illegal operation by its position."""
        return Outcome(
            verdict=self.verdict,
            engine="general",
            first_illegal_row=None
            if self.first_illegal is None
            else operations.index(self.first_illegal),
            linearizable=self.linearizable,
            states=self.states,
            reason=self.reason,
        )


def search(
    model: SequentialModel,
    plan: Plan,
    limits: Limits,
    starts: Iterable[Hashable],
    trace: Trace | None = None,
    started: float | None = None,
    *,
    is_relaxed: bool = False,
) -> Found:
    """Decide whether a plan is linearizable from some states, and record the way in `trace`.

    Explanations (`checkers.explain`) use this; a key's own check starts from the initial state. If
    `is_relaxed`, an indeterminate call may take effect any number of times: an `invalid` remains
    true, and there are far fewer configurations.
    """
    normal = model.normal_form(plan.calls)
    deadline = (time.monotonic() if started is None else started) + limits.seconds
    return _Search(
        model=model,
        plan=plan,
        limits=limits,
        normal=normal,
        trace=trace,
        deadline=deadline,
        is_relaxed=is_relaxed,
    ).run(starts)


class _LateError(Exception):
    """The time is over."""


@dataclass(slots=True, kw_only=True)
class _Search:
    model: SequentialModel
    plan: Plan
    limits: Limits
    normal: Callable[[Hashable], Hashable]
    trace: Trace | None
    deadline: float
    is_relaxed: bool = False
    dependence: Dependence | None = None
    indeterminate: list[tuple[Hashable, int, int]] = field(default_factory=list)
    """Each indeterminate call with the bit of its first place and the bits of all its places."""
    waiting: list[Configuration] = field(default_factory=list)
    seen: dict[tuple[int, int, Hashable], list[int]] = field(default_factory=dict)
    remembered: int = 0
    configurations: int = 0
    weight: Weight = field(default_factory=Weight)
    steps_left: int = _CLOCK_STRIDE
    furthest: int = -1
    furthest_states: list[Hashable] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.indeterminate = [
            (call, 1 << places[0], sum(1 << place for place in places))
            for call, places in self.plan.indeterminate
        ]
        if isinstance(self.model, CommutingModel):
            self.dependence = Dependence(self.plan, self.model.commutes, self._spend)

    def run(self, starts: Iterable[Hashable]) -> Found:
        self.waiting.extend((0, 0, 0, self.normal(state)) for state in starts)
        while self.waiting:
            self.configurations += 1
            if self.configurations % _CLOCK_STRIDE == 0 and self._is_full():
                return self._unknown(f"no verdict within {self.limits.memory_bytes} bytes")
            try:
                if self._advance(self.waiting.pop()):
                    return Found(verdict=Verdict.VALID, configurations=self.configurations)
            except _LateError:
                return self._unknown(f"no verdict within {self.limits.seconds:g} s")
        return self._invalid()

    def _is_full(self) -> bool:
        count = self.remembered + len(self.waiting)
        return self.weight.with_one_more(self.waiting[-1], count) > self.limits.memory_bytes

    def _spend(self, steps: int) -> None:
        """Count steps, and look at the clock from time to time.

        Raises:
            _LateError: The time is over.
        """
        self.steps_left -= steps
        if self.steps_left < 0:
            self.steps_left = _CLOCK_STRIDE
            if time.monotonic() > self.deadline:
                raise _LateError

    def _advance(self, configuration: Configuration) -> bool:
        """Advance a configuration up to the next choice, and list its choices.

        Returns:
            Whether every completion has been passed.
        """
        position, linearized, used, state = configuration
        plan, step = self.plan, self.model.step
        bits, calls, returns = plan.bits, plan.calls, plan.returns
        while True:
            if position == len(returns):
                if self.trace is not None:
                    self.trace.note(configuration, position, ())
                return True
            pure = plan.open_pure[position]
            self._spend(1 + len(pure))
            for operation in pure:
                bit = bits[operation]
                if not linearized & bit and step(state, calls[operation]) is not None:
                    linearized |= bit
            returning = bits[returns[position]]
            if not linearized & returning:
                break
            linearized ^= returning
            position += 1
        if self._is_new(position, linearized, used, state):
            self._note(position, state)
            waiting = len(self.waiting)
            among = self.dependence.calls(position, linearized) if self.dependence else None
            self._choose_indeterminate(position, linearized, used, state, among)
            self._choose_required(position, linearized, used, state, among)
            if self.trace is not None:
                self.trace.note(configuration, position, self.waiting[waiting:])
        return False

    def _choose_required(
        self, position: int, linearized: int, used: int, state: Hashable, among: Among
    ) -> None:
        """List the open updates, the first to return at the front."""
        plan, step = self.plan, self.model.step
        bits, calls = plan.bits, plan.calls
        soonest: dict[Hashable, int] = {}
        for operation in reversed(plan.open_updates[position]):
            bit = bits[operation]
            if not linearized & bit:
                soonest.setdefault(calls[operation], bit)
        self._spend(len(soonest))
        for call, bit in reversed(soonest.items()):
            if among is not None and call not in among:
                continue
            following = step(state, call)
            if following is not None:
                self.waiting.append((position, linearized | bit, used, self.normal(following)))

    def _choose_indeterminate(
        self, position: int, linearized: int, used: int, state: Hashable, among: Among
    ) -> None:
        step, normal = self.model.step, self.normal
        end = 1 << self.plan.indeterminate_before[position]
        unused, tried = ~used, len(self.indeterminate) // 8
        for call, first, places in self.indeterminate:
            if first >= end:
                break
            left = places & unused
            earliest = left & -left
            if not 0 < earliest < end or (among is not None and call not in among):
                continue
            tried += 1
            following = step(state, call)
            if following is not None and (following := normal(following)) != state:
                after = used if self.is_relaxed else used | earliest
                self.waiting.append((position, linearized, after, following))
        self._spend(tried)

    def _is_new(self, position: int, linearized: int, used: int, state: Hashable) -> bool:
        found = self.seen.setdefault((position, linearized, state), [])
        self._spend(len(found) // 4)
        for other in found:
            if other & used == other:
                return False
        self.remembered -= len(found)
        found[:] = [other for other in found if used & other != used]
        found.append(used)
        self.remembered += len(found)
        return True

    def _note(self, position: int, state: Hashable) -> None:
        if position > self.furthest:
            self.furthest = position
            self.furthest_states.clear()
        if position == self.furthest and len(self.furthest_states) < _STATES_TOLD:
            self.furthest_states.append(state)

    def _invalid(self) -> Found:
        return Found(
            verdict=Verdict.INVALID,
            configurations=self.configurations,
            first_illegal=self.plan.operations[self.plan.returns[self.furthest]],
            linearizable=self.furthest,
            states=tuple(sorted({self.model.describe(state) for state in self.furthest_states})),
        )

    def _unknown(self, reason: str) -> Found:
        return Found(verdict=Verdict.UNKNOWN, configurations=self.configurations, reason=reason)
