"""Broker ids of which many answers were lost: the engine's verdicts, its orders, explanations."""

import math
from functools import partial
from random import Random

import msgspec
import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.kraft import registrations
from kraftproof.checkers.engines.kraft.registration_sweep import Sweep
from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.linearization.engine_orders import engine_order
from kraftproof.checkers.explain.reduction.reductions import prefix, projected
from kraftproof.checkers.explain.reduction.update_order import order_from_hints
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.history.tables import operations_of, operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.reducible import AllBut, OrderHint
from kraftproof.checkers.models.registration import Registration
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.kraft.recorder import LINEARIZABLE, MODEL, Recorder
from tests.support.checkers import reference
from tests.support.checkers.differential import as_keys
from tests.support.checkers.random_histories import draw_registration, random_history, some_lost
from tests.support.random_cases import random_cases

HISTORIES = random_cases(500, share=32)
FEW = 12
"""So many operations a person can read; it is far fewer than were lost."""


def lossy_history(random, sizes):
    """A random history of which up to half of the answers were lost."""
    size, processes = random.choice(sizes), random.randrange(1, 7)
    history = random_history(random, draw_registration, reference.registration, size, processes)
    return some_lost(random, history, lost)


def lost(operation):
    if operation.status != "ok" or operation.f == "heartbeat":
        return operation
    return msgspec.structs.replace(operation, status="info", output=None)


def generated(corrupt, operations=4_000):
    options = GenerateOptions(
        model="registration",
        operations=operations,
        concurrency=10,
        indeterminate=0.05,
        corrupt=corrupt,
        seed=1,
    )
    return generated_table(options)


def test_it_agrees_with_the_search_wherever_answers_are_lost():
    random = Random("lost registrations")
    histories = [lossy_history(random, [6, 10, 14, 18]) for _ in range(HISTORIES)]
    columns = columns_of(operations_table(as_keys(histories)))
    outcomes = registry.decide(MODEL.calls_of(columns), Limits())
    invalid = 0
    starts = columns.starts.tolist()
    for history, start, outcome in zip(histories, starts, outcomes, strict=False):
        found = check_linearizable(MODEL, history, Limits()).among(history)
        invalid += found.verdict is Verdict.INVALID
        told = (found.verdict, found.first_illegal_row, found.linearizable)
        own = outcome.within(start)
        assert (own.verdict, own.first_illegal_row, own.linearizable) == told, history
    assert HISTORIES / 4 < invalid < HISTORIES * 3 / 4


def test_a_narrow_sweep_passes_no_more_than_an_exact_one_and_an_endless_one_no_less():
    random, differ = Random("narrow registrations"), 0
    for _ in range(HISTORIES):
        columns = columns_of(operations_table(lossy_history(random, [10, 14, 18, 30])))
        calls = MODEL.calls_of(columns)
        sweep = partial(Sweep, calls, 0, len(calls), Limits(), deadline=math.inf)
        kinds = ({"is_narrow": True}, {}, {"is_relaxed": True})
        first_illegal = [sweep(**kind).find_first_illegal() for kind in kinds]
        passed = [NEVER if one is None else int(calls.complete[one]) for one in first_illegal]
        assert passed == sorted(passed), columns
        differ += passed[0] < passed[2]
    assert differ > 0


@pytest.mark.parametrize("corrupt", [None, "stale-epoch", "repeated-epoch"])
def test_a_long_history_is_decided_without_an_exact_sweep(corrupt, monkeypatch):
    def of_two_kinds(*args, **options):
        assert options.get("is_narrow") or options.get("is_relaxed")
        return Sweep(*args, **options)

    monkeypatch.setattr(registrations, "Sweep", of_two_kinds)
    calls = MODEL.calls_of(columns_of(generated(corrupt)))
    (outcome,) = registrations.decide(calls, Limits())
    assert outcome.verdict is (Verdict.INVALID if corrupt else Verdict.VALID)


def test_its_order_of_a_legal_prefix_is_legal():
    random, shown = Random("orders of registrations"), 0
    for _ in range(HISTORIES):
        history = lossy_history(random, [4, 6, 8, 10])
        end = random.randrange(20)
        sub = prefix(MODEL, history, end)
        if not is_linearizable(MODEL, sub):
            continue
        indices = engine_order(MODEL, history, end, 1.0)
        assert indices is not None
        places = {index: place for place, index in enumerate(indices)}
        plan = plan_of(MODEL, list(sub.entries))
        numbers = [places.get(one.index) for one in plan.operations]
        turns = [None if number is None else OrderHint("order", number) for number in numbers]
        assert order_from_hints(MODEL, plan, turns, MODEL.init()) is not None, (history, end)
        shown += len(indices) > 1
    assert shown > HISTORIES / 10


@pytest.mark.parametrize("corrupt", ["stale-epoch", "repeated-epoch", "unregistered", "any"])
@pytest.mark.long
def test_a_long_history_with_lost_answers_is_explained_by_a_few_operations(corrupt):
    table = generated(corrupt)
    (verdict,) = judge_columns(MODEL, columns_of(table), CheckOptions())
    finding = verdict.findings[0]
    assert finding.check == LINEARIZABLE
    found = explain(MODEL, "0", operations_of(table), finding.operation_index)
    assert found.linearization is not None
    done = {step.index for step in found.linearization}
    over = found.first_illegal.complete_index
    assert {
        one.index
        for one in operations_of(table)
        if one.status == "ok" and one.complete_index < over
    } <= done
    assert found.sub_history.is_minimal
    assert found.sub_history.is_verified
    assert len(found.sub_history.constraints) <= FEW


def test_a_long_history_with_lost_answers_is_valid():
    (verdict,) = judge_columns(MODEL, columns_of(generated(None)), CheckOptions())
    assert verdict.verdict is Verdict.VALID


def test_a_limit_that_is_reached_is_told():
    columns = columns_of(generated(None))
    for limits, words in (
        (Limits(seconds=0), "no verdict within 0 s"),
        (Limits(memory_bytes=1), "no verdict within 1 bytes"),
    ):
        (outcome,) = registry.decide(MODEL.calls_of(columns), limits)
        assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, words)


def refused_between(incarnation):
    """An epoch refused after it was granted and accepted later; who asked in vain before."""
    record = Recorder()
    record.register(incarnation, None, 0, status="info")
    record.register("a", 5, 10)
    record.do("heartbeat", beat(5), {"outcome": "stale"}, 20)
    record.heartbeat(5, 30)
    return record.operations


def beat(epoch):
    return {"incarnation": "?", "epoch": epoch, "want_fence": False, "want_shut_down": False}


def first_illegal_of(operations):
    """The place of the first stuck operation, on which the engine and the search agree."""
    (outcome,) = registry.decide(MODEL.calls_of(columns_of(operations_table(operations))), Limits())
    found = check_linearizable(MODEL, operations, Limits()).among(operations)
    assert outcome.first_illegal_row == found.first_illegal_row
    return outcome.first_illegal_row


def test_only_an_incarnation_itself_can_have_renewed_its_epoch():
    assert first_illegal_of(refused_between("a")) is None
    operations = refused_between("b")
    assert first_illegal_of(operations) == 3
    explained = explain(MODEL, "1000", operations, 3)
    constraints = explained.sub_history.constraints
    assert [one.operation.index for one in constraints if one.is_required] == [1, 2, 3]


def test_an_epoch_that_may_have_been_renewed_is_sure_once_it_is_told_again():
    record = Recorder(refused_between("a")[:3], event=6)
    record.register("a", 5, 40)
    assert first_illegal_of(record.operations) is None
    record.do("heartbeat", beat(5), {"outcome": "stale"}, 50)
    assert first_illegal_of(record.operations) == 4


@pytest.mark.parametrize(("incarnation", "is_legal"), [("a", True), ("b", False)])
def test_lost_registrations_of_others_can_be_left_out(incarnation, is_legal):
    whole = prefix(MODEL, refused_between(incarnation), 100)
    left = projected(MODEL, whole, AllBut({5, "a"}))
    assert [one.operation.index for one in left.entries if one.is_required] == [1, 2, 3]
    assert len(left.entries) == (4 if is_legal else 3)
    assert is_linearizable(MODEL, left) is is_legal
    assert is_linearizable(MODEL, projected(MODEL, whole, AllBut({5})))


def test_lost_registrations_that_nothing_tells_apart_are_one_call():
    record = Recorder()
    for incarnation in "abc":
        record.register(incarnation, None, 0, status="info")
    record.register("c", None, 10)
    first, second, third, _ = Registration().calls(record.operations)
    assert first == second != third
