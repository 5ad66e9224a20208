"""A value that was gone for sure: what is said to be so has no legal place."""

from random import Random

import pytest

from kraftproof.checkers.engines.register.search.overwritten import is_overwritten
from kraftproof.checkers.engines.register.search.portfolio import decide
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.engines.register.test_frontier import random_key, truth_of
from tests.support.checkers.columnar import calls_of, history
from tests.support.checkers.register_calls import register_calls
from tests.support.random_cases import is_long


def test_no_call_of_a_legal_key_found_what_was_gone():
    random, gone = Random(5), 0
    for _ in range(3_000):
        key = random_key(random, random.randrange(3, 10))
        calls = register_calls(key)
        over = [n for n in range(len(calls)) if calls.complete[n] < 1 << 60]
        is_some_gone = any(is_overwritten(calls, 0, call) for call in over)
        assert not (is_some_gone and truth_of(key).first_illegal is None), key
        gone += is_some_gone
    assert gone > 200


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("write", 1, None, 0, 1), ("read", None, 2, 2, 3)], True),
        ([("write", 1, None, 0, 1), ("read", None, None, 2, 3)], True),
        ([("write", 1, None, 0, 3), ("read", None, None, 2, 4)], False),
        ([("write", 1, None, 0, 1), ("write", 2, None, 2, 3), ("read", None, 1, 4, 5)], True),
        ([("write", 1, None, 0, 1), ("write", 2, None, 2, None), ("read", None, 1, 4, 5)], False),
        ([("write", 1, None, 0, None), ("write", 2, None, 2, 3), ("read", None, 1, 4, 5)], False),
        ([("write", 1, None, 0, 1), ("cas", [1, 2], None, 2, 3), ("read", None, 1, 4, 5)], True),
        ([("write", 1, None, 0, 3), ("write", 2, None, 2, 4), ("read", None, 1, 5, 6)], False),
        ([("read", None, 1, 0, 1), ("write", 1, None, 2, 3)], True),
    ],
)
def test_by_hand(steps, expected):
    calls = calls_of("cas-register", history(*steps))
    asked = next(n for n, step in enumerate(steps) if step[0] == "read")
    assert is_overwritten(calls, 0, asked) is expected


@pytest.mark.long
def test_a_wrong_answer_among_many_lost_calls_is_found_without_trying_them_all():
    size = 20_000 if is_long() else 500
    options = GenerateOptions(
        operations=size, concurrency=50, indeterminate=0.05, corrupt="phantom", seed=1
    )
    columns = columns_of(generated_table(options))
    calls = model_named("cas-register").calls_of(columns)
    (outcome,) = decide(calls, Limits(seconds=20))
    assert outcome.verdict is Verdict.INVALID
    assert columns.operation(outcome.first_illegal_row).output == 5
