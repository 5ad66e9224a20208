"""Stacks in which elements are put again, or whose takes were lost: what a search finds and shows.

That it agrees with trying every order is also in test_against_reference.
"""

from random import Random

import numpy as np
import pytest

from kraftproof.checkers.calls.containers import StackCalls
from kraftproof.checkers.engines.containers import stack as stacks
from kraftproof.checkers.engines.repeated.stack.layout import calls_of as searchable
from kraftproof.checkers.engines.repeated.stack.order import is_legal, order_of, searched
from kraftproof.checkers.engines.repeated.stack.stack import put_once
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history
from tests.support.checkers.engines import ENGINES
from tests.support.checkers.random_histories import draw_container, random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long

ENGINE = "stack-repeated"
by_bounds = ENGINES[ENGINE]
draw_few = draw_container("push", "pop", lambda elements: -1, values=3)


def generated(*, values: int | None = 5, concurrency: int = 10, **options) -> StackCalls:
    settings = GenerateOptions(model="stack", concurrency=concurrency, values=values, **options)
    (table,) = Chunks(settings)
    calls = model_named("stack").calls_of(columns_of(table))  # type: ignore[union-attr]
    assert isinstance(calls, StackCalls)
    return calls


@pytest.mark.parametrize("seed", [0, long(1), long(2)])
def test_what_is_said_of_small_histories_is_the_truth_and_most_valid_ones_are_found(seed):
    random = Random(seed)
    seen = {Verdict.VALID: 0, Verdict.INVALID: 0}
    missed = 0
    for _ in range(150):
        operations = random_history(random, draw_few, reference.stack, random.randrange(2, 12), 4)
        (outcome,) = by_bounds(calls_of("stack", operations), LIMITS)
        first_illegal = reference.find_first_illegal(reference.stack, operations)
        if outcome is None:
            missed += first_illegal is None
            continue
        row = None if first_illegal is None else operations.index(first_illegal)
        assert outcome.first_illegal_row == row
        seen[outcome.verdict] += 1
    assert min(seen.values()) > 20, seen
    assert missed == 0


def test_puts_that_overlap_are_put_in_the_order_that_takes_ask_for():
    puts = [("push", 1, None, 0, 3), ("push", 2, None, 1, 2), ("push", 1, None, 4, 5)]
    takes = [("pop", None, 1, 6, 7), ("pop", None, 2, 8, 9), ("pop", None, 1, 10, 11)]
    (outcome,) = by_bounds(calls_of("stack", history(*puts, *takes)), LIMITS)
    assert outcome.verdict is Verdict.VALID
    other = [("pop", None, 1, 6, 7), ("pop", None, 1, 8, 9), ("pop", None, 2, 10, 11)]
    known = searchable(calls_of("stack", history(*puts, *other)), 0, 6)
    order = searched(known, 6, LIMITS)
    assert order is not None
    assert order.tolist() == [1, 0, 2, 3, 4, 5]


def test_a_lost_take_may_have_taken_what_lies_above():
    puts = [("push", 1, None, 0, 1), ("push", 1, None, 2, 3), ("push", 2, None, 4, 5)]
    lost, take = ("pop", None, None, 6, None), ("pop", None, 1, 7, 8)
    outcome = decided("stack", history(*puts, lost, take))
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)
    order = order_of(calls_of("stack", history(*puts, lost, take)), 8, LIMITS)
    assert order is not None
    assert order.tolist() == [0, 1, 2, 3, 4]


def test_elements_put_once_are_shown_to_cross_among_others():
    puts = [("push", n, None, 2 * at, 2 * at + 1) for at, n in enumerate([7, 1, 8, 7])]
    takes = [("pop", None, 7, 8, 9), ("pop", None, 1, 10, 11)]
    calls = calls_of("stack", history(*puts, *takes))
    assert put_once(calls, 0, len(calls)).rows.tolist() == [1, 2, 5]
    (outcome,) = by_bounds(calls, LIMITS)
    assert (outcome.verdict, outcome.first_illegal_row) == (Verdict.INVALID, 5)
    assert decided("stack", history(*puts, *takes)).first_illegal_row == 5


def test_stepping_through_refuses_what_is_not_legal():
    none = ("pop", None, None, 4, 5)
    steps = [("push", 1, None, 0, 1), ("pop", None, 1, 2, 3), none, ("push", 2, None, 6, 7)]
    calls = calls_of("stack", history(*steps, ("pop", None, 2, 8, 9)))
    known = searchable(calls, 0, len(calls))

    def is_so(*order: int, last: int = 5) -> bool:
        return is_legal(known, last, np.asarray(order, dtype=np.int64))

    assert is_so(0, 1, 3, 4)
    assert not is_so(0, 3, 4, 1)  # what was over is not before
    assert not is_so(0, 1, 3)  # a take is missing
    assert not is_so(0, 1, 3, 4, 4)
    assert not is_so(1, 0, 3, 4)
    assert is_so(0, 1, 3, last=4)
    at_once = [("push", 1, None, 0, 2), ("push", 2, None, 1, 3)]
    taken = [("pop", None, 1, 4, 5), ("pop", None, 2, 6, 7)]
    both = searchable(calls_of("stack", history(*at_once, *taken)), 0, 4)
    assert is_legal(both, 4, np.asarray([1, 0, 2, 3]))
    assert not is_legal(both, 4, np.asarray([0, 1, 2, 3]))  # another element is on top
    after = [("push", 1, None, 0, 1), ("push", 2, None, 2, 3)]
    one_by_one = searchable(calls_of("stack", history(*after, *taken)), 0, 4)
    assert not is_legal(one_by_one, 4, np.asarray([1, 0, 2, 3]))  # the second was put later
    inside = calls_of("stack", history(("push", 1, None, 0, 1), none))
    assert not is_legal(searchable(inside, 0, 2), 2, np.asarray([0]))


@pytest.mark.parametrize("lost", [0.0, long(0.05)])
@pytest.mark.parametrize("concurrency", [5, long(10)])
def test_valid_histories_are_decided_and_their_order_told(lost, concurrency):
    size = 1_000 if is_long() else 400
    calls = generated(operations=size, concurrency=concurrency, indeterminate=lost, seed=1)
    (outcome,) = by_bounds(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)
    known = searchable(calls, 0, len(calls))
    order = searched(known, len(known.levels), LIMITS)
    assert order is not None
    assert is_legal(known, len(known.levels), order)


@pytest.mark.parametrize("corrupt", [long("phantom"), long("duplicate"), "false-empty"])
def test_what_is_wrong_is_found_where_it_shows(corrupt):
    calls = generated(operations=1_000, corrupt=corrupt, seed=1)
    (outcome,) = by_bounds(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (Verdict.INVALID, ENGINE)


@pytest.mark.long
def test_past_its_limits_a_key_is_left_undecided():
    calls = generated(operations=1_000, seed=1)
    assert stacks.decide(calls, Limits(seconds=0.001)) == [None]
    assert stacks.decide(calls, Limits(memory_bytes=10_000)) == [None]
