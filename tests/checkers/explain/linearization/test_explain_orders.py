"""Where values tell who left them, the longest linearization is made, not searched for."""

from collections.abc import Sequence
from random import Random

import pytest

from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.explain.reduction.reductions import helpful, prefix
from kraftproof.checkers.explain.reduction.update_order import update_order
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from tests.support.checkers.cases import drawn, sequential
from tests.support.checkers.columnar import history
from tests.support.checkers.explained import whole_proof
from tests.support.long_cases import long
from tests.support.random_cases import is_long

HISTORIES = 600


def has_own_values(operations: Sequence[Operation]) -> bool:
    """Whether each value is written to the register once, and not what it holds at first."""
    told = [one.input for one in operations if one.f == "write"]
    told += [one.input[1] for one in operations if one.f == "cas" and isinstance(one.input, list)]
    return len(set(map(str, told))) == len(told)


@pytest.mark.parametrize("name", ["cas-register/write", "cas-register/cas"])
def test_every_legal_prefix_has_an_order_without_a_search(name):
    model, random, shown = sequential(name), Random(f"orders {name}"), 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 10))
        end = random.randrange(2 * len(operations) + 1)
        whole = prefix(model, operations, end)
        if not has_own_values(operations) or not is_linearizable(model, whole):
            continue
        plan = plan_of(model, list(helpful(model, whole.entries)))
        order = update_order(model, plan, model.init())
        assert order is not None, (operations, end)
        shown += len(order) > 1
    assert shown > HISTORIES / 10


@pytest.mark.parametrize("name", ["cas-register/write", "cas-register/cas"])
def test_what_has_no_order_has_no_turns(name):
    """Not even where two updates each replace what the other left."""
    model, random, without = sequential(name), Random(f"no turns {name}"), 0
    for _ in range(HISTORIES):
        whole = prefix(model, drawn(random, name, range(3, 10)), 1 << 60)
        if is_linearizable(model, whole):
            continue
        without += 1
        assert update_order(model, plan_of(model, list(whole.entries)), model.init()) is None, whole
    assert without > HISTORIES / 20


@pytest.mark.parametrize(
    ("name", "enough"), [("stack", 1.0), ("queue", 0.98), ("priority-queue", 0.99)]
)
def test_lost_takes_are_given_what_they_are_likely_to_have_taken(name, enough):
    model, random = sequential(name), Random(f"orders {name}")
    legal, found = 0, 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(3, 12))
        whole = prefix(model, operations, random.randrange(2 * len(operations) + 1))
        is_lost = any(entry.call == ("take", None) for entry in whole.entries)
        if not is_lost or not is_linearizable(model, whole):
            continue
        plan = plan_of(model, list(whole.entries))
        legal, found = legal + 1, found + (update_order(model, plan, model.init()) is not None)
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
    order = update_order(model, plan, model.init())
    assert order is not None
    assert set(plan.returns) <= set(order)


def test_an_open_take_that_has_no_moment_yet_is_left_out():
    model = sequential("priority-queue")
    inserts = [("insert", 3, 3, 0, 1), ("insert", 5, 5, 2, 3)]
    operations = history(*inserts, ("delete-min", None, 5, 4, 20), ("delete-min", None, 3, 11, 12))
    plan = plan_of(model, list(prefix(model, operations, 10).entries))
    assert update_order(model, plan, model.init()) == [0, 1]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        long("cas-register", "stale-read"),
        long("cas-register", "phantom"),
        long("cas-register", "lost-update"),
        long("kv-append", "reordered"),
        long("multi-register", "stale-read"),
        ("queue", "duplicate"),
        long("stack", "duplicate"),
        long("stack", "out-of-order"),
        long("priority-queue", "duplicate"),
    ],
)
def test_lost_calls_hide_neither_the_linearization_nor_the_proof(name, kind):
    options = GenerateOptions(
        model=name,
        operations=4_000 if is_long() else 400,
        concurrency=20,
        values=None,
        indeterminate=0.05,
        corrupt=kind,
        seed=1,
    )
    assert len(whole_proof(options).constraints) <= 9
