"""Legal orders by learning from conflicts: of every prefix, as the general engine has it."""

from random import Random

import numpy as np
import pytest

from kraftproof.checkers.engines.repeated.cdcl import cdcl as sat
from kraftproof.checkers.engines.repeated.cdcl.cdcl import settle
from kraftproof.checkers.engines.repeated.cdcl.problem import before, problem_of
from kraftproof.checkers.engines.repeated.cdcl.rules import draw
from kraftproof.checkers.engines.repeated.cdcl.state import DECIDED, WRONG, hold
from kraftproof.checkers.engines.repeated.layout import NONE, Facts, Values
from kraftproof.checkers.engines.transactions.beam_facts import facts_of
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of
from tests.support.checkers.narrow_beam import with_room
from tests.support.checkers.random_histories import draw_txn, random_history

MODEL = "multi-register"
STEPS, BYTES = 100_000_000, 200_000_000


def facts_of_all(calls):
    return facts_of(calls, 0, len(calls))


def crowded(seed: int, operations=300, concurrency=50, indeterminate=0.02, **options):
    """Columns of a history that the best configurations of each return do not decide."""
    table = generated_table(
        GenerateOptions(
            model=MODEL,
            operations=operations,
            concurrency=concurrency,
            values=4,
            indeterminate=indeterminate,
            seed=seed,
            **options,
        )
    )
    return columns_of(table)


def assert_legal(facts, order, cut):
    """Replays an order of updates; what only finds must fit in somewhere."""
    held, place, last = [facts.values.initial.tolist()], {}, -1
    for call in order.tolist():
        assert facts.complete[call] > last
        last = max(last, facts.invoke[call])
        assert is_there(facts.find[call], held[-1])
        pairs = zip(facts.leave[call].tolist(), held[-1], strict=True)
        held.append([there if value == NONE else value for value, there in pairs])
        place[call] = len(held) - 1
    assert len(place) == len(order)
    invoke, complete = facts.invoke, facts.complete
    for call in np.flatnonzero(complete <= cut).tolist():
        if (facts.leave[call] != NONE).any():
            assert call in place
        else:
            earlier = [place[one] for one in place if complete[one] < invoke[call]]
            later = [place[one] for one in place if invoke[one] > complete[call]]
            between = held[max(earlier, default=0) : min(later, default=len(held))]
            assert any(is_there(facts.find[call], now) for now in between)


def is_there(finds, held):
    return all(value in (NONE, there) for value, there in zip(finds.tolist(), held, strict=True))


def test_every_prefix_is_settled_as_the_general_engine_does_it():
    random, answers = Random(11), {True: 0, False: 0}
    for _ in range(200):
        operations = random_history(
            random, draw_txn, reference.multi_register(0), random.choice([8, 16, 24]), 6
        )
        outcome = check_linearizable(model_named(MODEL), operations, LIMITS).among(operations)
        calls = calls_of(MODEL, operations)
        facts = facts_of_all(calls)
        ends = calls.complete[calls.complete != NEVER]
        stuck = NEVER
        if outcome.first_illegal_row is not None:
            stuck = calls.complete[calls.rows == outcome.first_illegal_row].item()
        for cut in np.sort(ends).tolist():
            settled = settle(facts, cut, STEPS, BYTES)
            assert settled.is_legal == (cut < stuck)
            answers[settled.is_legal] += 1
            if settled.is_legal:
                assert_legal(facts, settled.order, cut)
    assert min(answers.values()) > 300


@pytest.mark.parametrize("seed", range(4))
def test_an_order_of_a_crowded_history_is_found(seed):
    calls = model_named(MODEL).calls_of(crowded(seed))
    facts, cut = facts_of_all(calls), int(calls.complete[calls.complete != NEVER].max())
    settled = settle(facts, cut, STEPS, BYTES)
    assert settled.is_legal
    assert_legal(facts, settled.order, cut)


@pytest.mark.parametrize("first", [0, 100, 200])
def test_an_order_that_is_not_legal_is_not_believed(monkeypatch, first):
    """Whatever the rules overlook: each wrong order is seen when it is replayed."""
    calls = model_named(MODEL).calls_of(crowded(0))
    facts, cut = facts_of_all(calls), int(calls.complete[calls.complete != NEVER].max())
    found = sat._order
    monkeypatch.setattr(sat, "_order", lambda *given: swapped(found(*given), first))
    assert settle(facts, cut, STEPS, BYTES).is_legal is None


def swapped(order, first):
    """Two parts of an order in each other's place: what was found in one is not there any more."""
    return np.concatenate((order[:first], order[first + 40 :], order[first : first + 40]))


def test_what_time_has_settled_is_never_what_is_wrong():
    """It follows from nothing, so a conflict would tell of calls that are not there (a crash once).

    Of six calls 0 is over when 2 is invoked, and 2 when 3 is; 1 overlaps them all. That 1 comes
    before 0 is wrong with each of the others; that 2 comes before 1 was not looked at yet.
    """
    none = np.empty(0, dtype=np.int64)
    facts = Facts(
        invoke=np.array([0, 1, 3, 6, 9, 10]),
        complete=np.array([2, 8, 5, 11, 12, 13]),
        find=np.full((6, 1), NONE, dtype=np.int32),
        leave=np.arange(6, dtype=np.int32).reshape(6, 1),
        piece=np.full(6, NONE, dtype=np.int32),
        values=Values(
            initial=np.array([0]), last=none, edge_starts=none, edge_piece=none, edge_to=none
        ),
    )
    problem = problem_of(facts, 13)
    assert problem is not None
    state = sat._begun(problem)
    for level, (one, other) in enumerate([(1, 0), (2, 1), (3, 1)], 1):
        hold(state, before(problem, one, other), DECIDED, 0, level)
    draw(problem, state, before(problem, 3, 1))
    assert state.at[WRONG] == before(problem, 0, 1)


def test_what_is_too_much_is_not_known():
    calls = model_named(MODEL).calls_of(crowded(0))
    facts = facts_of_all(calls)
    assert settle(facts, NEVER - 1, 10, BYTES).is_legal is None
    assert settle(facts, NEVER - 1, STEPS, 10_000).is_legal is None


def test_what_is_too_long_is_not_laid_out(monkeypatch):
    """Finding the sources looks at all pairs of calls, so it is counted before it is done."""
    monkeypatch.setattr(sat, "problem_of", pytest.fail)
    calls = model_named(MODEL).calls_of(crowded(0, operations=2_000, concurrency=5))
    settled = settle(facts_of_all(calls), NEVER - 1, 100_000, BYTES)
    assert (settled.is_legal, settled.steps) == (None, 0)


@pytest.mark.parametrize("kind", ["stale-read", "phantom"])
def test_a_crowded_history_is_judged_by_it_where_the_search_by_returns_fails(kind):
    """With so little room that it always does."""
    right, wrong = crowded(5, operations=120), crowded(5, operations=120, corrupt=kind)
    room = {"_FIRST_MOST": 1, "_CROWDED": 0}
    found = []
    for columns in (right, wrong):
        with with_room(room):
            (verdict,) = judge_columns(
                model_named(MODEL), columns, CheckOptions(limits=Limits(seconds=20))
            )
        found.append(verdict.verdict)
    assert found == [Verdict.VALID, Verdict.INVALID]
