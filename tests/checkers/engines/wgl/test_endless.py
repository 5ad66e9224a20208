"""Histories with many lost calls, decided from both sides: by what nothing passes, and before it.

That the general engine agrees with trying every order is in test_against_reference.
"""

import time
from dataclasses import replace
from random import Random

import pytest

from kraftproof.checkers.engines.wgl import relaxed_search
from kraftproof.checkers.engines.wgl.plan import make_plan
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.engines.wgl.search import Found, search
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.cases import CASES, LENIENT, model_of
from tests.support.checkers.random_histories import random_history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(800, share=16)
SEARCHED = sorted(case for case in CASES if model_of(case) not in LENIENT)
FEW = Limits(seconds=60, memory_bytes=1_000_000)
"""Enough for small histories; what has ever more states is given up soon."""
SOME = Limits(seconds=60, memory_bytes=2_500_000)


def decided_so(model, operations):
    return relaxed_search.from_both_sides(
        model, make_plan(model, operations), FEW, time.monotonic()
    )


def agrees(case, histories=HISTORIES):
    """Counts what is decided so, and says whether it all agrees with trying every order."""
    apply, draw = CASES[case]
    model, random, count = model_named(model_of(case)), Random(f"both sides {case}"), 0
    for _ in range(histories):
        operations = random_history(random, draw, apply, random.randrange(2, 9), 4)
        found = decided_so(model, operations)
        if found is not None:
            count += 1
            assert found.first_illegal == reference.find_first_illegal(apply, operations), (
                operations
            )
    return count


@pytest.mark.parametrize("case", [SEARCHED[0], *map(long, SEARCHED[1:])])
def test_what_is_decided_from_both_sides_agrees_with_trying_every_order(case):
    assert agrees(case) > HISTORIES / 20


def test_what_nothing_passes_is_not_believed_to_be_the_first(monkeypatch):
    def believed(*args, **options):
        found = search(*args, **options)
        return (
            found if options.get("is_relaxed") else Found(verdict=Verdict.VALID, configurations=0)
        )

    monkeypatch.setattr(relaxed_search, "search", believed)
    with pytest.raises(AssertionError, match=r"Operation\(index=0"):
        [agrees(case, 150) for case in SEARCHED]


@pytest.mark.long
def test_the_life_of_a_topic_with_many_lost_calls_is_decided(monkeypatch):
    options = GenerateOptions(
        model="topics",
        operations=4_000,
        concurrency=10,
        values=None,
        indeterminate=0.1,
        corrupt="gone-id",
        seed=1,
    )
    model, operations = model_named("topics"), columns_of(generated_table(options)).operations(0)
    plan = make_plan(model, operations)
    assert search(model, plan, SOME, [model.init()]).verdict is Verdict.UNKNOWN
    monkeypatch.setattr(relaxed_search, "_FIRST_BYTES", SOME.memory_bytes // 2)
    found = check_linearizable(model, operations, SOME)
    assert found.verdict is Verdict.INVALID
    valid = columns_of(generated_table(replace(options, corrupt=None))).operations(0)
    spoiled = [one for one, was in zip(operations, valid, strict=True) if one.output != was.output]
    assert [found.first_illegal] == spoiled
