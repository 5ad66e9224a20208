"""Engines by name, each alone: what the command chooses, and those that it would not ask here."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from checkers.calls.register import RegisterCalls
from checkers.engines import choose, race, unique_cas
from checkers.engines.outcome import Outcome
from checkers.options import Limits

Outcomes = Sequence[Outcome | None]
Decide = Callable[[Any, Limits], Outcomes]
TIGHT = {"_FIRST_DESCENT": 1, "_FIRST_SWEEP": 1, "_FIRST_SHARE": 20, "_SLICE": 7, "_ROOM": 2}
"""So little at first that nearly every key has to go on where it left off, with more room."""


def in_steps(calls: RegisterCalls, limits: Limits) -> Outcomes:
    """The race with hardly any work at a time: all of its ways to an answer are gone."""
    with patch.multiple(race, **TIGHT):
        return race.decide(calls, limits)


ENGINES: dict[str, Decide] = {
    "chosen": choose.decide,
    "race": race.decide,
    "race-in-steps": in_steps,
    "unique-cas": lambda calls, limits: unique_cas.decide(calls),
}
EVERYWHERE: dict[type, tuple[str, ...]] = {RegisterCalls: ("chosen", "race", "race-in-steps")}
"""The engines that take any calls of a type; for all other types what is chosen."""


def of_calls(calls: object) -> tuple[str, ...]:
    """The names of the engines that take such calls."""
    return EVERYWHERE.get(type(calls), ("chosen",))
