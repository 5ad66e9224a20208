"""Every engine of every model against the reference that tries every order: 1,600 histories.

`make test-long` runs 1,000,000 of them on all cores (`tests.support.checkers.differential`).
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.wgl.search import _Search
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.models import SequentialModel, models
from tests.support.checkers.cases import CASES, model_of
from tests.support.checkers.differential import BATCH, run_batch
from tests.support.checkers.engines import ENGINES
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(50_000, share=128)
SEEDS = range(1, 1 + -(-HISTORIES // BATCH // len(CASES)))


def test_every_model_has_a_case():
    sequential = {name for name, one in models().items() if isinstance(one, SequentialModel)}
    assert {model_of(case) for case in CASES} == sequential


@pytest.mark.parametrize("case", [*list(CASES)[::2], *map(long, list(CASES)[1::2])])
def test_every_engine_agrees_with_trying_every_order(case):
    verdicts: Counter[str] = Counter()
    for seed in SEEDS:
        tally = run_batch(case, seed)
        assert not tally.wrong, tally.wrong[0]
        for (_, _, verdict), count in tally.compared.items():
            verdicts[verdict] += count
    assert min(verdicts["valid"], verdicts["invalid"]) > sum(verdicts.values()) / 10, verdicts


def is_caught(case, batches=5):
    return any(run_batch(case, seed).wrong for seed in range(1, 1 + batches))


SEARCHED = ("cas-register", "kv-append", "mutex", "multi-register")
COMPILED = ("cas-register/write", "cas-register/cas")


@pytest.mark.parametrize("case", SEARCHED)
def test_a_search_that_forgets_lost_operations_is_caught(case, monkeypatch):
    monkeypatch.setattr(_Search, "_choose_indeterminate", lambda *_: None)
    assert is_caught(case)


@pytest.mark.long
@pytest.mark.parametrize("case", COMPILED)
def test_a_compiled_engine_with_a_sloppy_clock_is_caught(case, monkeypatch):
    decide = registry.decide

    def sloppy(calls, limits):
        complete = np.where(calls.complete == NEVER, NEVER, calls.complete + 2)
        return decide(replace(calls, complete=complete), limits)

    monkeypatch.setitem(ENGINES, "chosen", sloppy)
    assert is_caught(case)


@pytest.mark.long
@pytest.mark.parametrize("case", COMPILED)
def test_a_compiled_engine_that_names_the_wrong_operation_is_caught(case, monkeypatch):
    decide = registry.decide

    def careless(calls, limits):
        outcomes = zip(decide(calls, limits), calls.rows[calls.starts[:-1]], strict=True)
        return [
            o and (o if o.first_illegal_row is None else replace(o, first_illegal_row=r))
            for o, r in outcomes
        ]

    monkeypatch.setitem(ENGINES, "chosen", careless)
    assert is_caught(case)
