"""Priority queues whose elements repeat, or that lost takes: what a sweep finds, and its orders.

That it agrees with trying every order is in test_against_reference.
"""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from kraftproof.checkers.calls.containers import PriorityQueueCalls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.containers import priority_queue as priority_queues
from kraftproof.checkers.engines.repeated.priority_queue import search as priority_search
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, lay_out
from kraftproof.checkers.engines.repeated.priority_queue.order import order_of
from kraftproof.checkers.engines.repeated.priority_queue.priority_queue import decide_repeated
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.models.priority_queue import PriorityQueue
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history, in_turn
from tests.support.checkers.random_histories import random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long

ENGINE = "priority-queue-repeated"


def table_of(*, values: int | None = 5, concurrency: int = 10, **options):
    settings = GenerateOptions(
        model="priority-queue", concurrency=concurrency, values=values, **options
    )
    (table,) = Chunks(settings)
    return table


LARGE = 10_000 if is_long() else 500
"""Operations of a large history; as plain Python each takes long."""


def generated(**options) -> PriorityQueueCalls:
    calls = model_named("priority-queue").calls_of(columns_of(table_of(**options)))  # type: ignore[union-attr]
    assert isinstance(calls, PriorityQueueCalls)
    return calls


def random_small(count: int, size: int, seed: int):
    apply, draw = CASES["priority-queue/repeated"]
    random = Random(seed)
    return [random_history(random, draw, apply, size, 6) for _ in range(count)]


@pytest.mark.parametrize("lost", [0.0, 0.05])
@pytest.mark.parametrize(
    ("corrupt", "verdict"),
    [(None, Verdict.VALID), ("phantom", Verdict.INVALID), ("duplicate", Verdict.INVALID)],
)
def test_a_large_history_with_five_values_is_decided(lost, corrupt, verdict):
    calls = generated(operations=LARGE, indeterminate=lost, corrupt=corrupt, seed=2)
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (verdict, ENGINE)


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [5, 20, 50])
@pytest.mark.parametrize("lost", [0.0, 0.05, 0.2])
def test_priority_queues_of_few_and_of_many_clients_are_found_valid(concurrency, lost):
    calls = generated(operations=5_000, concurrency=concurrency, indeterminate=lost, seed=3)
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)


@pytest.mark.parametrize("corrupt", ["phantom", "duplicate", "out-of-order", "any"])
@pytest.mark.parametrize("lost", [0.0, 0.05])
def test_it_names_what_the_engine_of_unique_elements_names(corrupt, lost):
    calls = generated(
        operations=LARGE * 3 // 10, values=None, corrupt=corrupt, indeterminate=lost, seed=2
    )
    (outcome,) = priority_queues.decide(calls, LIMITS)
    assert outcome is not None
    assert outcome.verdict is Verdict.INVALID
    assert outcome.engine == "priority-queue"
    assert decide_repeated(calls, 0, len(calls), LIMITS) == replace(outcome, engine=ENGINE)


@pytest.mark.long
def test_lost_takes_that_no_matching_by_deadlines_finds_are_found():
    calls = generated(
        operations=10_000, values=None, indeterminate=0.05, corrupt="duplicate", seed=3
    )
    (outcome,) = priority_queues.decide(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (Verdict.INVALID, ENGINE)


def test_a_take_goes_before_a_lesser_put_completes_or_never():
    """5 was taken while 3 was being put; the second 5 by a take that began after that."""
    fives = [("insert", 5, None, 0, 1), ("insert", 5, None, 2, 3)]
    three = ("insert", 3, None, 4, 7)
    early, late = ("delete-min", None, 5, 6, 20), ("delete-min", None, 5, 8, 21)
    lost = ("delete-min", None, None, 9, None)
    assert decided("priority-queue", history(*fives, three, early)).verdict is Verdict.VALID
    assert decided("priority-queue", history(*fives, three, early, late)).first_illegal_row == 4
    with_lost = history(*fives, three, early, late, lost)
    assert decided("priority-queue", with_lost).verdict is Verdict.VALID


def test_a_lost_put_is_of_use_only_once_it_began():
    """Also where another value had a lost put before; without counting, which shows it, too."""
    ones = [("insert", 1, None, 0, 1), ("insert", 1, None, 2, None), ("delete-min", None, 1, 3, 4)]
    early, late = ("delete-min", None, 2, 5, 6), ("delete-min", None, 2, 8, 9)
    lost = ("insert", 2, None, 7, None)
    assert decided("priority-queue", history(*ones, lost, late)).verdict is Verdict.VALID
    operations = history(*ones, early, lost, late)
    assert reference.find_first_illegal(reference.priority_queue, operations) == operations[3]
    calls = calls_of("priority-queue", operations)
    assert (
        priority_search.search(lay_out(calls, 0, len(calls), NEVER - 1), LIMITS).first_illegal == 3
    )


def test_one_take_more_than_there_were_elements_is_found_at_once():
    operations = in_turn(("insert", 1, None), ("insert", 1, None), *[("delete-min", None, 1)] * 3)
    assert decided("priority-queue", operations).first_illegal_row == 4


def test_past_its_limits_a_key_is_left_undecided():
    calls = generated(operations=2_000, indeterminate=0.05, seed=4)
    assert priority_queues.decide(calls, Limits(seconds=0.001)) == [None]
    assert priority_queues.decide(calls, Limits(memory_bytes=1_000)) == [None]


@pytest.mark.long
def test_narrow_searches_and_wide_ones_never_contradict_each_other(monkeypatch):
    """However few states are kept: what is found is so, and what is not is not known."""
    wrong = undecided = 0
    for operations in random_small(300, 30, seed=5):
        calls = calls_of("priority-queue", operations)
        layout = lay_out(calls, 0, len(calls), NEVER - 1)
        wide = priority_search.search(layout, LIMITS)
        assert wide.is_passed or wide.first_illegal != NOBODY
        wrong += not wide.is_passed
        with monkeypatch.context() as few:
            few.setattr(priority_search, "_NARROWEST", 1)
            few.setattr(priority_search, "_WIDER", 1)
            few.setattr(priority_search, "_STRIDE", 4)
            turned = priority_search.search(layout, LIMITS)
            few.setattr(priority_search, "_WIDEST", 1)
            narrow = priority_search.search(layout, Limits(seconds=0.2))
        assert (turned.is_passed, turned.first_illegal) == (wide.is_passed, wide.first_illegal)
        if not narrow.is_passed and narrow.first_illegal == NOBODY:
            undecided += 1
        else:
            assert (narrow.is_passed, narrow.first_illegal) == (wide.is_passed, wide.first_illegal)
    assert min(wrong, undecided) > 10, (wrong, undecided)


@pytest.mark.parametrize(
    ("operations", "concurrency", "values", "lost", "seed"),
    [
        long(2_000, 50, 8, 0.0, 4),
        long(2_000, 50, 20, 0.02, 205),
        long(2_000, 60, 12, 0.01, 204),
        long(2_000, 50, 100, 0.03, 302),
    ],
)
def test_crowded_queues_of_equal_elements_are_found_valid(
    operations, concurrency, values, lost, seed
):
    """The best states of a narrow search all have a mistake in common that shows much later."""
    calls = generated(
        operations=operations,
        concurrency=concurrency,
        values=values,
        indeterminate=lost,
        seed=seed,
    )
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome is not None
    assert outcome.verdict is Verdict.VALID


def require_order(calls: PriorityQueueCalls, operations, cut: int) -> None:
    """Each call between its events, each answer as it must be, and none left out that was over."""
    order = order_of(calls, cut, LIMITS)
    assert order is not None
    invoke, complete = calls.invoke[order], calls.complete[order]
    assert (invoke <= cut).all()
    assert (np.maximum.accumulate(invoke) <= complete).all()
    assert len(set(order.tolist())) == len(order)
    assert set(np.flatnonzero(calls.complete <= cut)) <= set(order.tolist())
    model, state = PriorityQueue(), ()
    for row in calls.rows[order].tolist():
        state = model.step(state, model.call(operations[row]))
        assert state is not None


@pytest.mark.parametrize("lost", [0.0, 0.05])
@pytest.mark.parametrize("values", [5, None])
def test_an_order_is_told_of_a_long_history_and_of_a_prefix(lost, values):
    table = table_of(operations=LARGE * 3 // 10, values=values, indeterminate=lost, seed=6)
    calls = model_named("priority-queue").calls_of(columns_of(table))  # type: ignore[union-attr]
    operations = operations_of(table)
    require_order(calls, operations, NEVER - 1)
    require_order(calls, operations, LARGE // 4)


def test_orders_of_small_histories_go_as_far_as_there_are_any():
    for operations in random_small(150, 9, seed=7):
        calls = calls_of("priority-queue", operations)
        first_illegal = reference.find_first_illegal(reference.priority_queue, operations)
        if first_illegal is None:
            require_order(calls, operations, NEVER - 1)
        else:
            require_order(calls, operations, first_illegal.complete_index - 1)
            assert order_of(calls, first_illegal.complete_index, LIMITS) is None
