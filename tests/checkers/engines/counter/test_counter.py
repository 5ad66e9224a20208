"""Counters: the greedy order, the frontier, and that each alone is right where both can decide."""

from random import Random

import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.counter.frontier import decide_by_frontier
from kraftproof.checkers.engines.kernels.bisection import spans
from kraftproof.checkers.engines.repeated.counter.descent import GAVE_UP, LEGAL, descend
from kraftproof.checkers.engines.repeated.counter.gaps import Counter, gaps_of
from kraftproof.checkers.engines.repeated.counter.growing import decide_growing
from kraftproof.checkers.engines.repeated.counter.steps import WORK, begin
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import random_histories, reference
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history, in_turn
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases


def test_a_read_between_the_bounds_that_no_sum_reaches_is_wrong():
    adds = [("add", 5, None, 0, 4), ("add", 7, None, 1, 5)]
    for seen, verdict in ((0, "valid"), (5, "valid"), (7, "valid"), (12, "valid"), (6, "invalid")):
        outcome = decided("counter", history(*adds, ("read", None, seen, 2, 3)))
        assert (outcome.verdict.value, outcome.engine) == (verdict, "counter-growing")


def test_a_sum_that_shrinks_is_wrong_where_all_add_alike():
    adds = [("add", 2, None, n, 10 + n) for n in range(3)]
    reads = [("read", None, 4, 3, 4), ("read", None, 2, 5, 6)]
    outcome = decided("counter", history(*adds, *reads))
    assert (outcome.first_illegal_row, outcome.linearizable, outcome.engine) == (4, 1, "counter")
    assert (
        decided("counter", history(*adds, reads[1], ("read", None, 4, 7, 8))).first_illegal_row
        is None
    )
    assert decided("counter", in_turn(("add", 2, None), ("read", None, 3))).first_illegal_row == 1


def test_an_add_without_an_answer_counts_if_a_read_needs_it():
    lost = ("add", 1, None, 0, None)
    assert decided("counter", history(lost, ("read", None, 1, 1, 2))).verdict is Verdict.VALID
    assert decided("counter", history(lost, ("read", None, 0, 1, 2))).verdict is Verdict.VALID
    assert decided("counter", history(lost, ("read", None, 2, 1, 2))).verdict is Verdict.INVALID


def test_an_add_and_get_tells_its_place():
    gets = [("add-and-get", 3, 6, 0, 3), ("add-and-get", 3, 3, 1, 2)]
    assert decided("counter", history(*gets)).verdict is Verdict.VALID
    assert decided("counter", in_turn(*(step[:3] for step in gets))).first_illegal_row == 0


LARGE = [1 << 40, -(1 << 40), -(1 << 63), 1 << 70]


@pytest.mark.parametrize("value", [1.5, "1", True, None, *LARGE])
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(ValueError, match="field value: add takes an integer"):
        calls_of("counter", in_turn(("add", 1, None), ("add", value, None)))
    with pytest.raises(ValueError, match="field value: read answers an integer"):
        calls_of("counter", in_turn(("read", None, value)))


@pytest.mark.parametrize("deltas", [[1], [-2], [1, 2, 5], [1, -1, 3]])
def test_the_greedy_order_and_the_frontier_agree_on_longer_histories(deltas):
    random = Random(f"counters {deltas}")
    verdicts = set()
    for _ in range(random_cases(150, share=8)):
        operations = random_histories.random_history(
            random, random_histories.draw_counter(deltas), reference.counter, 16, 4
        )
        outcome = decided("counter", operations)
        calls = calls_of("counter", operations)
        ((start, end),) = spans(calls)
        by_frontier = decide_by_frontier(calls, start, end)
        assert by_frontier.first_illegal_row == outcome.first_illegal_row
        verdicts.add((outcome.verdict, outcome.engine))
    assert len(verdicts) > 1


def generated_calls(corrupt, values, indeterminate, concurrency, operations=2000, seed=7):
    options = GenerateOptions(
        model="counter", operations=operations, concurrency=concurrency, values=values,
        indeterminate=indeterminate, failed=0.01, corrupt=corrupt, seed=seed,
    )  # fmt: skip
    (table,) = Chunks(options)
    return model_named("counter").calls_of(columns_of(table))


def generated(corrupt, values, indeterminate, concurrency=20):
    calls = generated_calls(corrupt, values, indeterminate, concurrency)
    (outcome,) = registry.decide(calls, LIMITS)
    return outcome


@pytest.mark.parametrize("corrupt", [None, "lost-add", "too-high"])
@pytest.mark.parametrize("values", [5, 100])
def test_many_clients_with_adds_of_many_sizes_are_decided(corrupt, values):
    outcome = generated(corrupt, values, 0.0)
    assert outcome.engine == "counter-growing"
    assert outcome.verdict is (Verdict.INVALID if corrupt else Verdict.VALID)


@pytest.mark.parametrize("corrupt", [None, "lost-add", "too-high"])
@pytest.mark.parametrize(
    ("values", "lost", "concurrency"),
    [(5, 0.05, 5), long(5, 0.05, 50), long(5, 0.01, 50), long(100, 0.05, 20)],
)
def test_adds_without_a_known_outcome_may_make_up_a_sum(corrupt, values, lost, concurrency):
    outcome = generated(corrupt, values, lost, concurrency)
    assert outcome.engine == "counter-growing"
    assert outcome.verdict is (Verdict.INVALID if corrupt else Verdict.VALID)


def test_a_lost_add_counts_once_and_not_before_it_is_invoked():
    add, lost = ("add", 5, None, 0, 1), ("add", 3, None, 2, None)
    for seen, first_illegal in ((5, None), (8, None), (11, 2), (6, 2)):
        assert (
            decided("counter", history(add, lost, ("read", None, seen, 3, 4))).first_illegal_row
            == first_illegal
        )
    early = [("read", None, 3, 0, 1), ("add", 5, None, 2, 3), ("add", 3, None, 4, None)]
    assert decided("counter", history(*early)).first_illegal_row == 0


def test_an_open_add_and_get_may_need_a_sum_before_an_add_that_has_to_come():
    added = [("add", 2, None, 0, 2), ("add-and-get", 3, 3, 1, 7)]
    reads = [("read", None, 5, 3, 4), ("read", None, 99, 5, 6)]
    outcome = decided("counter", history(*added, *reads))
    assert (outcome.first_illegal_row, outcome.linearizable) == (3, 2)


def test_an_open_add_and_get_that_told_less_than_it_adds_is_no_plain_add():
    reads = [("read", None, 3, 1, 2), ("read", None, 5, 3, 4)]
    told = ("add-and-get", 3, 2, 0, 6)
    outcome = decided("counter", history(told, *reads, ("add", 1, None, 5, 7)))
    assert (outcome.first_illegal_row, outcome.linearizable) == (1, 0)


@pytest.mark.parametrize("corrupt", [None, "any"])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_the_search_and_the_frontier_agree_on_many_prefixes(corrupt, lost):
    compared = set()
    for seed in range(random_cases(40, share=4)):
        calls = generated_calls(corrupt, 6, lost, concurrency=6, operations=60, seed=seed)
        found = decide_growing(calls, 0, len(calls), LIMITS)
        other = decide_by_frontier(calls, 0, len(calls))
        if other is not None:
            assert (found.first_illegal_row, found.linearizable) == (
                other.first_illegal_row,
                other.linearizable,
            )
            compared.add(found.verdict)
    assert len(compared) == (2 if corrupt else 1)


SIZE, WORK_DONE = (20_000, 100_000) if is_long() else (500, 1_000)
"""Operations of a history, and the steps after which a search for its order gives up."""


def test_a_search_ends_when_its_work_is_done():
    calls = generated_calls(None, 5, 0.01, concurrency=50, operations=SIZE)
    counter = Counter(calls.action, calls.delta, calls.value, calls.invoke, calls.complete)
    gaps = gaps_of(counter, NEVER)
    search = begin(gaps, WORK_DONE)
    assert descend(gaps, search, 1_000_000) == GAVE_UP
    assert -WORK_DONE < search.now[WORK] < 0
    assert descend(gaps, begin(gaps, 1 << 40), 1_000_000) == LEGAL


def test_a_search_ends_when_it_may_remember_no_more():
    calls = generated_calls(None, 5, 0.01, concurrency=50, operations=SIZE)
    counter = Counter(calls.action, calls.delta, calls.value, calls.invoke, calls.complete)
    gaps = gaps_of(counter, NEVER)
    assert descend(gaps, begin(gaps, 1 << 40), 3) == GAVE_UP
