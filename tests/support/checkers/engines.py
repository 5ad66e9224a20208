"""Engines by name, each alone: what the command chooses, and those that it would not ask here."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from kraftproof.checkers import uncompiled
from kraftproof.checkers.calls.containers import StackCalls
from kraftproof.checkers.calls.register import RegisterCalls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.containers import stack as stacks
from kraftproof.checkers.engines.kernels.bisection import spans
from kraftproof.checkers.engines.kernels.distinct_elements import Containers
from kraftproof.checkers.engines.register import unique_cas
from kraftproof.checkers.engines.register.search import depth_first
from kraftproof.checkers.engines.register.search import portfolio as race
from kraftproof.checkers.engines.repeated.stack import stack as stack_repeated
from kraftproof.checkers.engines.repeated.stack.layout import calls_of
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits

Outcomes = Sequence[Outcome | None]
Decide = Callable[[Any, Limits], Outcomes]
TIGHT = {
    "_QUICK_WORK": 1,
    "_FIRST_DESCENT": 1,
    "_FIRST_SWEEP": 1,
    "_FIRST_SHARE": 20,
    "_SLICE": 7,
    "_CAPACITY": 2,
}
"""So little at first that nearly every key has to go on where it left off, with more room."""

LATE = {"_FIRST_SWEEP": 1, "_FIRST_RETURNS": 1, "_FIRST_SHARE": 400}
"""No first sweep, and relaxed frontiers over as few returns as can be."""


UNCOMPILED_SECONDS = 600.0


def compiled(calls: Any, limits: Limits) -> Outcomes:
    """What the command chooses, compiled from the beginning."""
    with patch.object(uncompiled, "SHORT", -1):
        return registry.decide(calls, limits)


def as_python(calls: Any, limits: Limits) -> Outcomes:
    """The same, uncompiled to the end."""
    with uncompiled.uncompiled(UNCOMPILED_SECONDS):
        return registry.decide(calls, limits)


def in_steps(calls: RegisterCalls, limits: Limits) -> Outcomes:
    """The race with hardly any work at a time: all of its ways to an answer are gone."""
    with patch.multiple(race, **TIGHT):
        return race.decide(calls, limits)


def by_frontier(calls: RegisterCalls, limits: Limits) -> Outcomes:
    """The exact frontier, without the depth-first search, which answers most that is valid."""
    with (
        patch.object(
            race, "_descend_first", lambda _, keys: np.full((len(keys), 3), depth_first.RUNNING)
        ),
        patch.object(race._Portfolio, "_descend", lambda *_, **__: np.full(3, depth_first.RUNNING)),
    ):
        return race.decide(calls, limits)


def from_the_last_returns(calls: RegisterCalls, limits: Limits) -> Outcomes:
    """The race with a first frontier too small, so that relaxed ones refute most of what is not."""
    with patch.multiple(race, **LATE):
        return race.decide(calls, limits)


def stacks_by(way: Callable[..., Outcome | None]) -> Decide:
    """Stacks by one way only, whatever their elements are."""

    def decide(calls: StackCalls, limits: Limits) -> Outcomes:
        held = Containers(calls=calls, fits=stacks.fits, deadlines=stacks.deadlines)
        known = [(start, end, calls_of(calls, start, end)) for start, end in spans(calls)]
        return [way(held, *each, limits) for each in known]

    return decide


ENGINES: dict[str, Decide] = {
    "chosen": compiled,
    "uncompiled": as_python,
    "race": race.decide,
    "race-in-steps": in_steps,
    "unique-cas": lambda calls, limits: unique_cas.decide(calls),
    "stack-graph": stacks_by(stack_repeated.by_sweep),
    "stack-repeated": stacks_by(stack_repeated.by_bounds),
}
EVERYWHERE: dict[type, tuple[str, ...]] = {
    RegisterCalls: ("chosen", "uncompiled", "race", "race-in-steps"),
    StackCalls: ("chosen", "uncompiled", "stack-graph", "stack-repeated"),
}
"""The engines that take any calls of a type; for all other types what is chosen."""


def of_calls(calls: object) -> tuple[str, ...]:
    """The names of the engines that take such calls; in a test as plain Python none compiled."""
    names = EVERYWHERE.get(type(calls), ("chosen", "uncompiled"))
    is_plain = uncompiled.own.budget is not None
    return tuple(name for name in names if name != "chosen" or not is_plain)
