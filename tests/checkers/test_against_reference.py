"""The engine and all models against the reference that tries every order, on random histories."""

from random import Random

import pytest

from checkers.engines.general import check_linearizable
from checkers.models import model_named
from checkers.options import Limits
from checkers.verdict import Verdict
from tests.checkers import random_histories, reference

LIMITS = Limits(seconds=20)
CASES = {
    "cas-register": (reference.cas_register, random_histories.draw_cas),
    "kv-append": (reference.kv_append, random_histories.draw_append),
    "mutex": (reference.mutex, random_histories.draw_mutex),
    "multi-register": (reference.multi_register(0), random_histories.draw_txn),
    "topics": (reference.topics, random_histories.draw_topics),
    "registration": (reference.registration, random_histories.draw_registration),
}
LENIENT = {"topics", "registration"}
"""Ids and epochs that nobody was told are left open by these models: they may admit more."""


def disagreement(name, apply, operations):
    """What is wrong with the engine's verdict on a history, None if nothing."""
    model = model_named(name)
    for operation in operations:
        model.validate(operation)
    outcome = check_linearizable(model, operations, LIMITS)
    truth = reference.linearizable(apply, operations)
    if outcome.verdict is Verdict.INVALID:
        end = outcome.stuck.complete_index
        if truth:
            return "false alarm"
        if not reference.linearizable(apply, operations, end):
            return None if name in LENIENT and has_lost(operations) else "named too late"
        return "named too early" if reference.linearizable(apply, operations, end + 1) else None
    is_missed = not truth and not (name in LENIENT and has_lost(operations))
    return "missed" if is_missed else None


def has_lost(operations):
    return any(o.f in {"create", "register"} and o.status == "info" for o in operations)


def check_many(name, seed, count, sizes=(1, 7)):
    apply, draw = CASES[name]
    random = Random(seed)
    told = {True: 0, False: 0}
    for _ in range(count):
        size, processes = random.randrange(*sizes), random.randrange(1, 5)
        operations = random_histories.random_history(random, draw, apply, size, processes)
        wrong = disagreement(name, apply, operations)
        assert wrong is None, (wrong, operations)
        told[reference.linearizable(apply, operations)] += 1
    return told


@pytest.mark.parametrize("name", CASES)
def test_every_model_agrees_with_trying_every_order(name):
    told = check_many(name, 7, 1000, sizes=(1, 6))
    assert min(told.values()) > 100, told
