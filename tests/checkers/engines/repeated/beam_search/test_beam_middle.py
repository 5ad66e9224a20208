"""The search by returns at middle size: hundreds of calls, mostly invalid by a hair or not at all.

Small histories are compared with trying every order elsewhere; what is dropped, found again and
proved over many returns comes up only here. The truth is how a history was made, and the general
engine where that decides within some memory.
"""

import re
from collections import Counter
from itertools import pairwise
from random import Random
from unittest.mock import patch

import msgspec
import pytest

from kraftproof.checkers.engines.repeated.beam_search import beam_search as beam
from kraftproof.checkers.engines.repeated.beam_search import sweep as beam_sweep
from kraftproof.checkers.engines.strings import beam_facts as beam_strings
from kraftproof.checkers.engines.transactions import beam_facts as beam_transactions
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from tests.support.checkers.columnar import calls_of
from tests.support.checkers.narrow_beam import with_room
from tests.support.random_cases import random_cases

History = list[Operation]

FACTS = {"kv-append": beam_strings.facts_of, "multi-register": beam_transactions.facts_of}
PIECES = (["a", "ab", "b", "ba"], ["a", "b"], ["", "a", "aa"], ["x", "xyx", "y"])
"""What the generator's pieces become: strings that can be cut in several ways."""
VALUES = {"stale-read": [5, 8, 12], "reordered": [30, None], "lost-append": [30, None]}
"""Where only what was written once, or is gone for good, shows that an answer is wrong."""
WIDE = ({"_FIRST_MOST": 32}, 32)
NARROW = (
    ({"_FIRST_MOST": 2, "_APART": 2, "_DEPTH": 1, "_PLACES": 8}, 32),
    ({"_FIRST_MOST": 4, "_APART": 3, "_DEPTH": 1, "_PLACES": 3}, 1),
    ({"_FIRST_MOST": 1, "_APART": 1, "_DEPTH": 0, "_PLACES": 2}, 3),
)
"""So little room that configurations are dropped, places forgotten, and the search goes back."""
HISTORIES = random_cases(80, share=16)
GENERAL = Limits(seconds=600, memory_bytes=6_000_000)
"""Bounded by what it remembers only: the same histories are compared on any machine."""


def generated(model: str, random: Random, corrupt: str | None) -> tuple[History, str]:
    """A history and its verdict by construction; corrupt ones are drawn until there is one."""
    while True:
        chunks = Chunks(
            GenerateOptions(
                model=model,
                operations=random.randrange(100, 250),
                concurrency=random.randrange(4, 9),
                values=random.choice(VALUES.get(corrupt, [2, 3, 5])),
                indeterminate=random.choice([0, 0.02, 0.1]),
                failed=random.choice([0, 0.03]),
                corrupt=corrupt,
                seed=random.randrange(1_000_000),
            )
        )
        try:
            operations = [operation for table in chunks for operation in operations_of(table)]
        except CheckerInputError:
            continue
        return operations, chunks.verdict


def renamed(operations: History, random: Random) -> History:
    """The same with other pieces, or fewer values and registers: what was valid still is."""
    pieces, values = random.choice(PIECES), random.choice([2, 3])
    registers = random.choice(["x", "xy", "xyz"])

    def image(value: object) -> object:
        if isinstance(value, str):
            return re.sub("<([0-9]+)>", lambda found: pieces[int(found[1]) % len(pieces)], value)
        if isinstance(value, list):
            return [
                [f, name, told if told is None else told % values]
                for f, name, told in value
                if name in registers
            ]
        return value

    return [
        msgspec.structs.replace(one, input=image(one.input), output=image(one.output))
        for one in operations
    ]


def tightened(operations: History, random: Random, times: int) -> History:
    """The same where some completed before another began that they overlapped for a moment."""
    events = sorted(
        (event, one.index, is_end)
        for one in operations
        for event, is_end in ((one.invoke_index, False), (one.complete_index, True))
        if event is not None
    )
    told = [(index, is_end) for _, index, is_end in events]
    for _ in range(times):
        places = [
            place
            for place, ((one, is_end), (other, ends)) in enumerate(pairwise(told))
            if ends and not is_end and one != other
        ]
        place = random.choice(places)
        told[place : place + 2] = told[place + 1], told[place]
    at = {event: place for place, event in enumerate(told)}
    order = sorted(operations, key=lambda one: at[one.index, False])
    return [
        msgspec.structs.replace(
            one,
            index=number,
            invoke_index=at[one.index, False],
            invoke_time=at[one.index, False],
            complete_index=at.get((one.index, True)),
            complete_time=at.get((one.index, True)),
        )
        for number, one in enumerate(order)
    ]


def drawn(model: str, random: Random) -> tuple[History, str]:
    corrupt = random.choice([None, None, None, *SUBJECTS[model].corruptions])
    operations, truth = generated(model, random, corrupt)
    if random.random() < 0.7:
        operations = renamed(operations, random)
        truth = "valid" if truth == "valid" else "unknown"
    if corrupt is None and random.random() < 0.6:
        operations = tightened(operations, random, random.choice([3, 10, 30]))
        truth = "unknown"
    return operations, truth


@pytest.mark.long
@pytest.mark.parametrize("model", FACTS)
def test_it_agrees_with_the_general_engine_and_with_how_a_history_was_made(model):
    random, compared = Random(5), Counter()
    for number in range(HISTORIES):
        operations, truth = drawn(model, random)
        general = check_linearizable(model_named(model), operations, GENERAL).among(operations)
        calls = calls_of(model, operations)
        facts = FACTS[model](calls, 0, len(calls))
        for constants, room in (WIDE, NARROW[number % len(NARROW)]):
            with with_room(constants), patch.object(beam_sweep, "_CAPACITY", room):
                found = beam.decide_repeated(calls, 0, len(calls), facts, Limits(seconds=0.1))
            if found.verdict is Verdict.UNKNOWN:
                continue
            if truth != "unknown":
                assert found.verdict == truth
            if general.verdict is not Verdict.UNKNOWN:
                assert (found.verdict, found.first_illegal_row) == (
                    general.verdict,
                    general.first_illegal_row,
                )
                assert found.linearizable == general.linearizable
                compared[found.verdict] += 1
    assert min(compared[Verdict.VALID], compared[Verdict.INVALID]) > HISTORIES / 4
