"""Registers that number their values, with lost sets: added up, and laid out by version."""

from random import Random

import pytest

from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.certificate.sum_bounds import contradicting_sum_bound, left_of
from kraftproof.checkers.explain.explanation import Explanation
from kraftproof.checkers.explain.reduction.reductions import prefix, weakest, window
from kraftproof.checkers.explain.reduction.update_order import update_order
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable, is_sum_bound_right
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.reducible import Tally
from kraftproof.checkers.models.versioned_register import VersionedRegister
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import history
from tests.support.checkers.random_histories import random_history
from tests.support.random_cases import random_cases

HISTORIES = random_cases(3_000, share=8)
MODEL = VersionedRegister()


def random_prefix(random: Random) -> SubHistory:
    """What was completed up to some event of a few random operations."""
    apply, draw = CASES["versioned-register"]
    size = random.randrange(2, 10)
    operations = random_history(random, draw, apply, size, random.randrange(2, 5))
    return prefix(MODEL, operations, random.randrange(2 * size + 2))


def explained(kind: str, values: int | None, seed: int) -> Explanation:
    """Why a long history with lost sets is invalid."""
    options = GenerateOptions(
        model=MODEL.name,
        operations=5_000,
        concurrency=10,
        values=values,
        indeterminate=0.05,
        corrupt=kind,
        seed=seed,
    )
    columns = columns_of(generated_table(options))
    (judged,) = judge_columns(MODEL, columns, CheckOptions())
    assert judged.verdict is Verdict.INVALID
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    return explain(MODEL, judged.key, columns.operations(0), first_illegal)


def test_versions_that_do_not_add_up_are_wrong():
    random, valid, high, low = Random("versions"), 0, 0, 0
    for _ in range(HISTORIES):
        sub = random_prefix(random)
        if not any(entry.is_required for entry in sub.entries):
            continue
        found, is_valid = contradicting_sum_bound(MODEL, sub), is_linearizable(MODEL, sub)
        assert found is None or is_valid is False, (sub, found)
        valid += bool(is_valid)
        if found is None:
            continue
        high, low = high + found.is_most, low + (not found.is_most)
        assert is_sum_bound_right(MODEL, found, sub), (sub, found)
        left = left_of(MODEL, found)
        assert is_linearizable(MODEL, left) is False, (sub, found)
        assert min(map(MODEL.sum_of, left.starts)) >= 0, (sub, found)
    assert valid > HISTORIES / 10
    assert min(high, low) > HISTORIES / 50


def test_what_is_left_of_calls_as_tallies_is_legal_where_they_are():
    random, shown = Random("tallies"), 0
    for _ in range(HISTORIES):
        sub = random_prefix(random)
        if not is_linearizable(MODEL, sub):
            continue
        entries = tuple(Entry(one.operation, MODEL.tally(one.call)) for one in sub.entries)
        starts = tuple(MODEL.summing_to(MODEL.sum_of(start)) for start in sub.starts)
        assert is_linearizable(MODEL, SubHistory(entries=entries, starts=starts)), sub
        shown += len(entries) > 1
    assert shown > HISTORIES / 10


def test_every_legal_prefix_has_an_order_without_a_search():
    random, lost, without = Random("turns"), 0, 0
    for _ in range(HISTORIES):
        sub = random_prefix(random)
        if not is_linearizable(MODEL, sub):
            continue
        order = update_order(MODEL, plan_of(MODEL, list(sub.entries)), MODEL.init())
        assert order is not None, sub
        without += len(order) > 1
        lost += any(not sub.entries[number].is_required for number in order)
    assert lost > HISTORIES / 50
    assert without > HISTORIES / 10


@pytest.mark.parametrize(
    ("others", "order"),
    [
        ([("set-if", [1, 7], None, 1, None), ("set", 9, 3, 4, 5)], [0, 1, 2]),
        ([("set", 7, 2, 1, 2), ("set", 7, None, 3, None), ("get", 0, [7, 3], 4, 5)], [0, 1, 2, 3]),
        ([("set", 9, 2, 1, 2), ("set", 8, None, 3, None), ("set", 9, 4, 4, 5)], [0, 1, 2, 3]),
        ([("set", 8, None, 1, None), ("get", 0, [8, 1], 2, 3), ("set", 9, 2, 4, 5)], [1, 2, 3]),
        ([("get", 0, [7, 1], 1, 5), ("set", 9, 2, 2, 3), ("set", 7, None, 4, None)], [0, 1, 2]),
    ],
    ids=["version compared", "latest of a value", "earliest of any", "value seen", "next is over"],
)
def test_a_version_goes_to_the_lost_set_that_others_can_spare(others, order):
    operations = history(("set", 7, None, 0, None), *others)
    plan = plan_of(MODEL, list(prefix(MODEL, operations, 5).entries))
    assert update_order(MODEL, plan, MODEL.init()) == order


def test_more_versions_than_sets_have_no_turns():
    (get,) = history(("get", None, [1, 1 << 61], 0, 1))
    assert MODEL.update_order(MODEL.calls([get]), [(0, 1)]) is None


@pytest.mark.parametrize(("value", "is_left"), [(1, True), (7, False)])
def test_a_window_begins_with_what_was_set(value, is_left):
    operations = history(
        ("set", 1, 1, 0, 1), ("set", 2, None, 2, None), ("get", None, [value, 1], 3, 4)
    )
    sub = window(MODEL, prefix(MODEL, operations, 4), 3)
    assert sub is not None
    assert ((str(value), 1) in sub.starts) == is_left
    assert is_linearizable(MODEL, sub) is is_left


def test_a_window_begins_so_early_that_sets_which_tell_nothing_come_first():
    operations = history(
        ("set", 1, 1, 0, 1), ("set", 2, 2, 2, 3), ("set", 3, 3, 4, 5), ("get", 0, [3, 3], 6, 7)
    )
    untold = weakest(MODEL, prefix(MODEL, operations, 7))
    for since in (0, 2, 4, 6):
        sub = window(MODEL, untold, since)
        assert sub is not None
        assert is_linearizable(MODEL, sub), since


@pytest.mark.parametrize(("values", "is_known"), [(200, False), (1, True)])
def test_different_lost_sets_make_too_many_states_and_equal_ones_do_not(values, is_known):
    lost = [("set", n % values, None, n, None) for n in range(200)]
    calls = MODEL.calls(history(*lost, ("get", None, [0, 300], 200, 201)))
    assert (MODEL.any_state([MODEL.init()], calls, calls) is not None) == is_known


@pytest.mark.parametrize("values", [None, 5], ids=["unique", "few"])
@pytest.mark.parametrize(("kind", "calls"), [("stale-read", 2), ("phantom", 1)])
def test_lost_sets_hide_neither_the_linearization_nor_the_proof(kind, calls, values):
    found = explained(kind, values, seed=1)
    assert found.linearization is not None
    assert len(found.linearization) >= found.linearizable
    assert found.sub_history is not None
    assert len(found.sub_history.constraints) == calls
    assert found.sub_history.is_verified
    assert found.sub_history.is_minimal


def test_a_version_that_fell_is_told_as_one():
    found = explained("stale-read", 5, seed=1)
    assert found.sub_history is not None
    assert found.sub_history.total is not None
    assert f"operation {found.first_illegal.index} returned" in found.words
    assert "returned the version" in found.words
    assert "get -> version at most" in found.words


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (Tally(0, least=3), "get -> version at least 3"),
        (Tally(1, most=3), "set -> version at most 3"),
        (Tally(1, 3, 3), "set -> version 3"),
        (Tally(12), "12 sets"),
    ],
)
def test_tallies_are_told_in_words(tally, words):
    assert MODEL.describe_call(tally) == words


@pytest.mark.parametrize(("value", "helps"), [(1, True), (2, True), (7, False)])
def test_sets_help_gets_of_what_they_can_leave(value, helps):
    free, bound, get = MODEL.calls(
        history(
            ("set", 1, None, 0, None),
            ("set-if", [3, 2], None, 1, None),
            ("get", 0, [value, 4], 2, 3),
        )
    )
    assert set(MODEL.candidate_causes([free, bound], [get])) == ({free, bound} if helps else set())
