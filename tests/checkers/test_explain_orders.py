"""Where values tell who left them, the longest linearization is made, not searched for."""

from collections.abc import Sequence
from random import Random

import pytest

from checkers.columns import columns_of
from checkers.engines.plan import plan_of
from checkers.explain.brute_force import is_linearizable
from checkers.explain.engine_orders import engine_order
from checkers.explain.reductions import helpful, prefix
from checkers.explain.turns import in_turn, merged
from checkers.generate import GenerateOptions, generated_table
from checkers.history import Operation
from checkers.models import SequentialModel, models
from checkers.models.reducible import Turn
from tests.checkers.cases import CASES, model_of
from tests.checkers.columnar import history
from tests.checkers.explained import whole_proof
from tests.checkers.random_histories import random_history

HISTORIES = 600
AMBIGUOUS = {"kv-append/pieces", "multi-register/unique"}
"""A few of their histories hold values that may come from two calls."""


def sequential(name: str) -> SequentialModel:
    model = models()[model_of(name)]
    assert isinstance(model, SequentialModel)
    return model


def has_own_values(operations: Sequence[Operation]) -> bool:
    """Whether each value is written to the register once, and not what it holds at first."""
    told = [one.input for one in operations if one.f == "write"]
    told += [one.input[1] for one in operations if one.f == "cas" and isinstance(one.input, list)]
    return len(set(map(str, told))) == len(told)


@pytest.mark.parametrize(
    "name",
    [
        "cas-register/write",
        "cas-register/cas",
        "kv-append/pieces",
        "multi-register/unique",
        "counter/ones",
        "counter",
    ],
)
def test_every_legal_prefix_has_an_order_without_a_search(name):
    model, random, shown = sequential(name), Random(f"orders {name}"), 0
    apply, draw = CASES[name]
    for _ in range(HISTORIES):
        size = random.randrange(3, 10)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        end = random.randrange(2 * size + 1)
        whole = prefix(model, operations, end)
        if model_of(name) == "cas-register" and not has_own_values(operations):
            continue
        if not is_linearizable(model, whole):
            continue
        plan = plan_of(model, list(helpful(model, whole.entries)))
        order = in_turn(model, plan, model.init())
        if model_of(name) != "cas-register":
            indices = engine_order(model, operations, end, 1.0)
            if indices is None:
                assert name in AMBIGUOUS, (operations, end)
                continue
            places = {index: place for place, index in enumerate(indices)}
            found = (places.get(one.index) for one in plan.operations)
            turns = [None if place is None else Turn("order", place) for place in found]
            order = merged(model, plan, turns, model.init())
        assert order is not None, (operations, end)
        shown += len(order) > 1
    assert shown > HISTORIES / 10


@pytest.mark.parametrize(
    ("name", "enough"), [("stack", 1.0), ("queue", 0.98), ("priority-queue", 0.99)]
)
def test_lost_takes_are_given_what_they_are_likely_to_have_taken(name, enough):
    model, random = sequential(name), Random(f"orders {name}")
    apply, draw = CASES[name]
    legal, found = 0, 0
    for _ in range(HISTORIES):
        size = random.randrange(3, 12)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        whole = prefix(model, operations, random.randrange(2 * size + 1))
        is_lost = any(entry.call == ("take", None) for entry in whole.entries)
        if not is_lost or not is_linearizable(model, whole):
            continue
        plan = plan_of(model, list(whole.entries))
        legal, found = legal + 1, found + (in_turn(model, plan, model.init()) is not None)
    assert legal > HISTORIES / 10
    assert found >= enough * legal


@pytest.mark.parametrize("name", ["queue", "stack"])
def test_a_long_history_of_lost_takes_has_an_order_without_a_search(name):
    options = GenerateOptions(
        model=name, operations=10_000, concurrency=10, values=None, indeterminate=0.05, seed=1
    )
    model, columns = sequential(name), columns_of(generated_table(options))
    whole = prefix(model, columns.operations(0), 1 << 60)
    plan = plan_of(model, list(whole.entries))
    order = in_turn(model, plan, model.init())
    assert order is not None
    assert set(plan.returns) <= set(order)


def test_an_open_take_that_has_no_moment_yet_is_left_out():
    model = sequential("priority-queue")
    inserts = [("insert", 3, 3, 0, 1), ("insert", 5, 5, 2, 3)]
    operations = history(*inserts, ("delete-min", None, 5, 4, 20), ("delete-min", None, 3, 11, 12))
    plan = plan_of(model, list(prefix(model, operations, 10).entries))
    assert in_turn(model, plan, model.init()) == [0, 1]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cas-register", "stale-read"),
        ("cas-register", "phantom"),
        ("cas-register", "lost-update"),
        ("kv-append", "reordered"),
        ("multi-register", "stale-read"),
        ("queue", "duplicate"),
        ("stack", "duplicate"),
        ("stack", "out-of-order"),
        ("priority-queue", "duplicate"),
    ],
)
def test_lost_calls_hide_neither_the_linearization_nor_the_proof(name, kind):
    options = GenerateOptions(
        model=name,
        operations=4_000,
        concurrency=20,
        values=None,
        indeterminate=0.05,
        corrupt=kind,
        seed=1,
    )
    assert len(whole_proof(options).constraints) <= 9
