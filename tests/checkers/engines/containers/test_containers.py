"""Queues, stacks and priority queues: what each forbids, and lost takes, named exactly.

That the engines agree with trying every order is in test_against_reference.
"""

import msgspec
import numpy as np
import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.kernels.element_intervals import (
    Times,
    element_intervals,
    is_repeated,
)
from kraftproof.checkers.engines.kernels.segment_tree import (
    cover,
    first_gap,
    largest,
    make_cover,
    make_largest,
    replace,
)
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history, in_turn, judged
from tests.support.long_cases import long
from tests.support.random_cases import is_long

SIZE = 5_000 if is_long() else 1_500
FUNCTIONS = {
    "queue": ("enqueue", "dequeue"),
    "stack": ("push", "pop"),
    "priority-queue": ("insert", "delete-min"),
}


def steps(model, *puts_and_takes):
    """A put of a number above 0; a take of one below it; a take that found none of 0."""
    put, take = FUNCTIONS[model]
    return [(put, n, None) if n > 0 else (take, None, -n or None) for n in puts_and_takes]


@pytest.mark.parametrize(
    ("model", "legal", "illegal"),
    [
        ("queue", (2, 1, -2, -1, 0), (2, 1, -1)),
        ("stack", (2, 1, -1, -2, 0), (2, 1, -2)),
        ("priority-queue", (2, 1, 3, -1, -2, -3, 0), (2, 1, -2)),
        ("queue", (1, -1, 0, 2, -2), (1, 0)),
        ("stack", (1, 0 - 1, 2, 3, -3, -2), (1, -1, -1)),
        ("priority-queue", (3, -3, 1, -1, 0), (3, -3, 0, -1)),
    ],
)
def test_elements_leave_in_the_containers_order(model, legal, illegal):
    assert decided(model, in_turn(*steps(model, *legal))).verdict is Verdict.VALID
    wrong = decided(model, in_turn(*steps(model, *illegal)))
    assert wrong.first_illegal_row == len(illegal) - 1


@pytest.mark.parametrize("model", FUNCTIONS)
def test_a_lost_take_may_have_taken_what_has_to_be_gone(model):
    put, take = FUNCTIONS[model]
    gone, there = 1, 2
    puts = [(put, gone, None, 0, 1), (put, there, None, 2, 3)]
    if model == "stack":
        puts = [(put, there, None, 0, 1), (put, gone, None, 2, 3)]
    lost, found = (take, None, None, 4, None), (take, None, there, 5, 6)
    none = (take, None, None, 7, 8)
    assert decided(model, history(*puts, lost, found, none)).verdict is Verdict.VALID
    assert decided(model, history(*puts, found, none)).first_illegal_row == 2
    late = (take, None, None, 7, None)
    assert decided(model, history(*puts, found, late)).first_illegal_row == 2


def test_an_element_may_have_to_be_gone_because_of_several_others_together():
    """1 lies below 2 until 18, so 4 came above it; yet no single element shows it."""
    pushes = [("push", 1, None, 0, 1), ("push", 2, None, 6, 8), ("push", 4, None, 7, 16)]
    pops = [("pop", None, 1, 9, 30), ("pop", None, 2, 18, 19)]
    in_time, late = ("pop", None, None, 20, None), ("pop", None, None, 31, None)
    for operations, first_illegal in (
        ([*pushes, *pops], 3),
        ([*pushes, *pops, in_time], None),
        ([*pushes, *pops, late], 3),
    ):
        truth = reference.find_first_illegal(reference.stack, history(*operations))
        assert (truth and truth.index) == first_illegal
        assert decided("stack", history(*operations)).first_illegal_row == first_illegal


@pytest.mark.parametrize("model", ["queue", long("stack"), long("priority-queue")])
@pytest.mark.parametrize("indeterminate", [0.05, long(0.3)])
@pytest.mark.parametrize("seed", [6, long(7), long(8)])
def test_long_histories_with_lost_takes_are_decided(model, indeterminate, seed):
    for kind in (None, "phantom", "out-of-order"):
        options = GenerateOptions(
            model=model, operations=3000, concurrency=5, values=None, indeterminate=indeterminate,
            failed=0.0, corrupt=kind, seed=seed,
        )  # fmt: skip
        (table,) = Chunks(options)
        (outcome,) = registry.decide(model_named(model).calls_of(columns_of(table)), LIMITS)
        assert outcome is not None
        assert outcome.verdict is (Verdict.INVALID if kind else Verdict.VALID), kind


def test_an_element_whose_put_failed_has_a_number_and_harms_none():
    failed = [("push", n, None) for n in range(1, 40)]
    operations = in_turn(*failed, ("push", 99, None), ("pop", None, 99))
    operations[:39] = [msgspec.structs.replace(each, status="fail") for each in operations[:39]]
    calls = calls_of("stack", operations)
    assert calls.element.max() >= len(calls)
    assert decided("stack", operations).verdict is Verdict.VALID
    assert not is_repeated(calls.action, calls.element)


@pytest.mark.parametrize(
    ("model", "engine"),
    [
        ("queue", "queue-repeated"),
        ("stack", "stack-graph"),
        ("priority-queue", "priority-queue-repeated"),
    ],
)
def test_an_element_that_is_put_twice_is_left_to_another_engine(model, engine):
    operations = in_turn(*steps(model, 1, -1, 1, -1))
    outcome = decided(model, operations)
    assert (outcome and outcome.engine) == engine
    assert judged(model, operations).verdict is Verdict.VALID
    assert judged(model, in_turn(*steps(model, 1, 1, -1, -1, -1))).verdict is Verdict.INVALID


@pytest.mark.parametrize("model", FUNCTIONS)
def test_null_can_not_be_put_and_a_priority_is_a_number(model):
    put, take = FUNCTIONS[model]
    wanted = "a number, not" if model == "priority-queue" else "a value other than null"
    with pytest.raises(ValueError, match=f"field value: {put} .*{wanted}"):
        calls_of(model, in_turn((put, [1], None), (put, None, None)))
    with pytest.raises(ValueError, match=f"field f: .*{put}"):
        calls_of(model, in_turn(("offer", 1, None)))
    assert judged(model, in_turn((take, None, None))).verdict is Verdict.VALID


@pytest.mark.parametrize("model", ["queue", long("stack"), "priority-queue"])
def test_long_histories_are_decided_and_wrong_answers_in_them_found(model):
    guaranteed = [k for k, what in SUBJECTS[model].corruptions.items() if what.is_guaranteed]
    for kind in [None, *guaranteed]:
        options = GenerateOptions(
            model=model, operations=SIZE, concurrency=10, values=None, indeterminate=0.0,
            failed=0.01, corrupt=kind, seed=5,
        )  # fmt: skip
        (table,) = Chunks(options)
        calls = model_named(model).calls_of(columns_of(table))
        (outcome,) = registry.decide(calls, LIMITS)
        assert outcome.verdict is (Verdict.INVALID if kind else Verdict.VALID), kind


def test_the_life_of_an_element_has_what_completed_by_the_cut():
    action = np.array([0, 1], dtype=np.int8)
    element, invoke, complete = np.array([0, 0]), np.array([0, 3]), np.array([2, 5])
    assert told(element_intervals(action, element, invoke, complete, 5)) == (True, [0, 2, 3, 5])
    assert told(element_intervals(action, element, invoke, complete, 4)) == (True, [0, 2, 3, NEVER])
    assert told(element_intervals(action, element, invoke, complete, 1)) == (
        True,
        [0, NEVER, NEVER, NEVER],
    )


def told(found: tuple[bool, Times]) -> tuple[bool, list[int]]:
    return found[0], found[1][:, 0].tolist()


def test_trees_find_the_largest_and_the_first_gap():
    random = np.random.default_rng(3)
    for count in (1, 2, 5, 16, 23):
        numbers, covers = make_largest(count), make_cover(count)
        plain, covered = np.full(count, -NEVER), np.zeros(count, dtype=np.int64)
        for _ in range(100):
            place, start, end = random.integers(count), *sorted(random.integers(0, count + 1, 2))
            plain[place] = random.integers(-5, 5)
            replace(numbers, place, plain[place])
            if start < end:
                best = largest(numbers, start, end)
                assert (best == -1 and (plain[start:end] == -NEVER).all()) or (
                    start <= best < end and plain[best] == plain[start:end].max()
                )
                times = 1 if covered[start:end].min() == 0 else random.choice([1, -1])
                covered[start:end] += times
                cover(covers, start, end, times)
                gaps = np.flatnonzero(covered[start:] == 0)
                assert (
                    first_gap(covers, start) >= count or first_gap(covers, start) == start + gaps[0]
                )
                assert (first_gap(covers, start) < count) == bool(len(gaps))
