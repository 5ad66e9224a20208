"""Explanations where values come again and calls were lost: the order is told, the proof found."""

from random import Random
from unittest.mock import patch

import pytest

from kraftproof.checkers.engines.repeated.beam_search import sweep as beam_sweep
from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.explain.linearization.engine_orders import engine_order
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.explain.reduction.update_order import order_from_hints
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions
from kraftproof.checkers.models.reducible import OrderHint
from tests.support.checkers.cases import drawn, sequential
from tests.support.checkers.explained import whole_proof
from tests.support.checkers.narrow_beam import with_room
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(400, share=4)
AMBIGUOUS = {"kv-append/pieces", "multi-register/unique"}
"""A few of their histories hold values that may come from two calls."""


def orders_told(name: str, *, may_be_unknown: bool = False) -> tuple[int, int]:
    """Checks the orders of legal prefixes; returns how many there are, and with many calls."""
    model, random = sequential(name), Random(f"repeated {name}")
    legal = long = 0
    for _ in range(HISTORIES):
        operations = drawn(random, name, range(4, 14), range(2, 6))
        end = random.randrange(2 * len(operations) + 1)
        whole = prefix(model, operations, end)
        if not is_linearizable(model, whole):
            continue
        indices = engine_order(model, operations, end, 1.0)
        if indices is None:
            assert may_be_unknown or name in AMBIGUOUS, (operations, end)
            continue
        assert len(set(indices)) == len(indices)
        plan = plan_of(model, list(whole.entries))
        places = {index: place for place, index in enumerate(indices)}
        found = (places.get(one.index) for one in plan.operations)
        turns = [None if place is None else OrderHint("order", place) for place in found]
        order = order_from_hints(model, plan, turns, model.init())
        assert order is not None, (operations, end, indices)
        assert set(plan.returns) <= set(order)
        legal, long = legal + 1, long + (len(order) > 4)
    return legal, long


@pytest.mark.parametrize(
    "name",
    [
        "cas-register",
        "counter",
        long("counter/ones"),
        "kv-append",
        long("kv-append/pieces"),
        long("map"),
        "multi-register",
        long("multi-register/unique"),
        long("queue"),
        "queue/repeated",
    ],
)
def test_an_engine_tells_a_legal_order_of_each_legal_prefix(name):
    legal, long = orders_told(name)
    assert legal > HISTORIES / 4
    assert long > HISTORIES / 20


@pytest.mark.parametrize("name", ["kv-append", "multi-register"])
def test_so_it_does_where_it_has_little_room_and_begins_again(name):
    room = {"_FIRST_MOST": 2, "_APART": 3, "_DEPTH": 1}
    with with_room(room), patch.object(beam_sweep, "_LOGGED", beam_sweep._CAPACITY):
        legal, long = orders_told(name, may_be_unknown=True)
    assert legal > HISTORIES / 4
    assert long > HISTORIES / 20


@pytest.mark.parametrize(
    ("name", "kind", "most"),
    [
        long("append-log", "reordered", 3),
        long("cas-register", "lost-update", 3),
        long("cas-register", "phantom", 1),
        ("cas-register", "stale-read", 3),
        long("kv-append", "phantom", 1),
        long("map", "phantom", 1),
        long("multi-register", "phantom", 1),
        long("multi-register", "stale-read", 3),
        long("queue", "phantom", 1),
        long("versioned-register", "phantom", 3),
        ("versioned-register", "stale-read", 3),
    ],
)
@pytest.mark.parametrize("seed", [3, long(4)])
def test_five_values_and_lost_calls_hide_neither_the_linearization_nor_the_proof(
    name, kind, most, seed
):
    options = GenerateOptions(
        model=name,
        operations=4_000,
        concurrency=10,
        values=5,
        indeterminate=0.05,
        corrupt=kind,
        seed=seed,
    )
    assert len(whole_proof(options).constraints) <= most


@pytest.mark.parametrize("operations", [2_000, long(10_000)])
def test_what_grows_without_end_where_calls_are_endless_does_not_use_up_the_time(operations):
    """Each of 220 candidates is decided in milliseconds; with endless puts it took half a second.

    With 120 s of them it was minimal, with 10 s it was not.
    """
    options = GenerateOptions(
        model="queue", operations=operations, concurrency=10, values=5, corrupt="duplicate", seed=5
    )
    assert len(whole_proof(options).constraints) <= 60
