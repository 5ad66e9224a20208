"""Stacks that are crowded or lossy: the search that keeps the best states, with all below."""

from random import Random
from unittest.mock import patch

import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.repeated.stack import beam as stack_beam
from kraftproof.checkers.engines.repeated.stack.beam import found_order
from kraftproof.checkers.engines.repeated.stack.layout import calls_of as known_of
from kraftproof.checkers.engines.repeated.stack.order import is_legal, order_of, searched
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.engines.repeated.stack.test_stack_repeated import generated
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of
from tests.support.checkers.random_histories import draw_container, random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

NARROW = {"_KEPT": 1, "_EDGES": 1, "_MOST_KEPT": 2, "_CAPACITY": 8, "_STRIDE": 2}
"""So little that it is stuck all the time, goes back, and has to leave out what leads nowhere."""


draw = draw_container("push", "pop", lambda elements: -1, values=2)


AS_IT_IS = {name: getattr(stack_beam, name) for name in NARROW}


@pytest.mark.parametrize("bounds", [long(AS_IT_IS), NARROW], ids=["as it is", "narrow"])
def test_an_order_is_found_only_where_there_is_one_and_mostly_then(bounds):
    random, valid, found = Random("stacks of which the best are kept"), 0, 0
    cases = random_cases(400, share=8)
    for _ in range(cases):
        operations = random_history(random, draw, reference.stack, random.randrange(2, 14), 5)
        known = known_of(calls_of("stack", operations), 0, len(operations))
        with patch.multiple(stack_beam, **bounds):
            order = searched(known, len(known.levels), LIMITS)
        is_valid = reference.find_first_illegal(reference.stack, operations) is None
        assert order is None or is_valid
        valid += is_valid
        found += order is not None
    assert cases / 4 < valid < cases * 7 / 8
    assert found == valid if bounds is AS_IT_IS else found > 0.6 * valid


@pytest.mark.parametrize(
    ("operations", "concurrency", "lost", "values"),
    [
        long(3_000, 20, 0.0, 5),
        long(3_000, 30, 0.0, 3),
        long(10_000, 10, 0.02, 5),
        long(2_000, 40, 0.01, 6),
        long(3_000, 50, 0.05, 5),
    ],
)
def test_crowded_and_lossy_histories_are_decided(operations, concurrency, lost, values):
    calls = generated(
        operations=operations, concurrency=concurrency, indeterminate=lost, values=values, seed=1
    )
    (outcome,) = registry.decide(calls, LIMITS)
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, "stack-repeated")


def test_of_what_is_wrong_among_many_the_order_before_is_told():
    calls = generated(
        operations=2_000 if is_long() else 300,
        concurrency=40,
        indeterminate=0.01,
        corrupt="phantom",
        seed=83,
    )
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.linearizable is not None
    (row,) = (place for place, row in enumerate(calls.rows) if row == outcome.first_illegal_row)
    assert order_of(calls, int(calls.complete[row]) - 1, LIMITS) is not None


@pytest.mark.long
def test_it_goes_on_with_more_room_for_what_states_came_by():
    """Where it runs out of it the trail is renumbered, too, and gone back to afterwards."""
    known = known_of(
        calls := generated(operations=2_000, seed=5, indeterminate=0.02), 0, len(calls)
    )
    little = {"_MOST_KEPT": 256, "_CAPACITY": 1024}
    made = []
    make_room = stack_beam._Search.enlarge
    with (
        patch.multiple(stack_beam, **little),
        patch.object(stack_beam._Search, "enlarge", lambda it: made.append(it) or make_room(it)),
    ):
        order = found_order(known, len(known.levels), LIMITS)
    assert made
    assert order is not None
    assert is_legal(known, len(known.levels), order)


@pytest.mark.parametrize("limits", [Limits(seconds=0.0001), Limits(memory_bytes=1_000_000)])
def test_past_its_limits_nothing_is_found(limits):
    calls = generated(operations=1_000, seed=1)
    assert found_order(known_of(calls, 0, len(calls)), 1_000, limits) is None
