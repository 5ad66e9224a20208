"""Lists to which equal elements are appended: which append made which place, and by when.

That the engine agrees with trying every order is in test_against_reference.
"""

from random import Random

import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.lists import repeated as list_repeated
from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.explain.reduction.reductions import helpful, prefix
from kraftproof.checkers.explain.reduction.update_order import update_order as in_turn_of
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history, in_turn, judged
from tests.support.checkers.differential import run_batch
from tests.support.checkers.random_histories import random_history
from tests.support.random_cases import random_cases

HISTORIES = random_cases(600)


def append(element, *at):
    return ("append", element, None, *at)


def read(shown, *at):
    return ("read", None, shown, *at)


def test_of_equal_appends_the_first_to_complete_makes_the_place():
    appends = [append("a", 0, 20), append("a", 1, 3), append("b", 4, 9)]
    seen = read(["a", "b", "a"], 10, 30)
    assert decided("list-append", history(*appends, seen)).verdict is Verdict.VALID
    early = read(["a", "a"], 5, 8)
    assert decided("list-append", history(*appends, early)).verdict is Verdict.VALID
    assert decided("list-append", history(*appends, early, seen)).first_illegal_row == 4


def test_a_place_is_made_no_sooner_than_a_read_without_it_began():
    appends = [append("a", 0, 20), append("a", 1, 21)]
    both, one = read(["a", "a"], 2, 5), read(["a"], 4, 9)
    assert decided("list-append", history(*appends, both, one)).verdict is Verdict.VALID
    late = read(["a"], 6, 9)
    assert decided("list-append", history(*appends, both, late)).first_illegal_row == 3


def test_what_completed_before_a_read_is_seen_by_it():
    steps = [("append", "a", None), ("append", "a", None)]
    assert decided("list-append", in_turn(*steps, ("read", None, ["a"]))).first_illegal_row == 2
    assert decided("list-append", in_turn(*steps, ("read", None, ["a"] * 3))).first_illegal_row == 2


def test_a_lost_append_makes_a_place_that_no_other_can_make():
    lost, other = append("a", 0, None), append("a", 1, 2)
    once, twice = read(["a"], 3, 4), read(["a", "a"], 5, 6)
    for reads in ([], [once], [twice], [once, twice]):
        assert decided("list-append", history(lost, other, *reads)).verdict is Verdict.VALID
    assert (
        decided("list-append", history(lost, other, twice, read(["a"], 7, 8))).first_illegal_row
        == 3
    )


def test_each_list_of_a_key_has_places_of_its_own():
    def txn(action, name, value, *at):
        asked = [[action, name, None if action == "r" else value]]
        return ("txn", asked, [[action, name, value]], *at)

    appends = [txn("append", "x", 1, 0, 1), txn("append", "y", 1, 2, 3), append(1, 4, 5)]
    twice = [*appends, txn("append", "x", 1, 6, 7)]
    seen = [txn("r", "x", [1, 1], 8, 9), txn("r", "y", [1], 10, 11), read([1], 12, 13)]
    assert decided("list-append", history(*twice, *seen)).verdict is Verdict.VALID
    wrong = txn("r", "y", [1, 1], 10, 11)
    assert decided("list-append", history(*twice, seen[0], wrong)).first_illegal_row == 5


@pytest.mark.parametrize(
    ("shown", "anomaly"),
    [
        (["a", "a", "c"], "phantom: a read of what nobody had begun to append"),
        (["a", "b"], "incompatible order"),
        (["a"], None),
    ],
)
def test_what_is_wrong_has_its_name_where_it_has_one(shown, anomaly):
    steps = [("append", "a", None), ("append", "a", None), ("append", "b", None)]
    found = decided("list-append", in_turn(*steps[:2], ("read", None, ["a", "a"]), *steps[2:],
                                           ("read", None, shown)))  # fmt: skip
    assert (found.first_illegal_row, found.anomaly) == (4, anomaly)


def test_a_transaction_of_several_appends_is_left_to_the_general_engine():
    both = [["append", "x", 1], ["append", "x", 1]]
    operations = in_turn(("txn", both, both))
    assert decided("list-append", operations) is None
    assert judged("list-append", operations).verdict is Verdict.VALID


def test_an_engine_that_does_not_compare_the_reads_is_caught(monkeypatch):
    monkeypatch.setattr(list_repeated, "stray_read", lambda *_: -1)
    assert any(run_batch("list-append/repeated", seed).wrong for seed in range(1, 4))


def test_every_legal_prefix_has_an_order_without_a_search():
    model, random, shown = model_named("list-append"), Random("orders of lists"), 0
    apply, draw = CASES["list-append/repeated"]
    for _ in range(HISTORIES):
        size = random.randrange(3, 10)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        whole = prefix(model, operations, random.randrange(2 * size + 1))
        if is_linearizable(model, whole):
            plan = plan_of(model, list(helpful(model, whole.entries)))
            order = in_turn_of(model, plan, model.init())
            assert order is not None, operations
            shown += len(order) > 1
    assert shown > HISTORIES / 10


@pytest.mark.parametrize("indeterminate", [0.0, 0.05])
@pytest.mark.parametrize("concurrency", [10, 50])
def test_a_long_history_is_decided_with_many_calls_open(concurrency, indeterminate):
    options = GenerateOptions(
        model="list-append",
        operations=2_500,
        concurrency=concurrency,
        values=3,
        indeterminate=indeterminate,
        seed=concurrency,
    )
    operations = columns_of(generated_table(options)).operations(0)
    (outcome,) = registry.decide(calls_of("list-append", operations), LIMITS)
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, "list-append")
