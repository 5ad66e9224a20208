"""Histories in which so many takes were lost that trying what they took is hopeless."""

import pytest

from checkers.columns import columns_of
from checkers.engines import stack_repeated
from checkers.generate import GenerateOptions, generated_table
from checkers.judge import judge_columns
from checkers.models.stack import Stack
from checkers.options import CheckOptions, Limits
from checkers.verdict import Verdict
from tests.checkers.explained import whole_proof


def lossy(model: str, operations: int, concurrency: int, seed: int) -> GenerateOptions:
    """Options of a history in which one call in ten was lost, and two takes were swapped."""
    return GenerateOptions(
        model=model,
        operations=operations,
        concurrency=concurrency,
        values=None,
        indeterminate=0.1,
        corrupt="out-of-order",
        seed=seed,
    )


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (lossy("stack", 300, 20, 11), 6),
        (lossy("stack", 1_000, 30, 3), 6),
        (lossy("stack", 1_000, 30, 8), 8),
        (lossy("stack", 1_000, 30, 17), 6),
        (lossy("priority-queue", 1_000, 30, 1), 4),
    ],
)
def test_the_few_elements_are_found_that_no_lost_take_can_have_taken(options, most):
    """An engine says of any elements whether they show it, of a hundred or of three."""
    assert len(whole_proof(options).constraints) <= most


@pytest.mark.parametrize("seed", [3, 8])
def test_what_is_shown_is_invalid_even_where_there_is_no_time_to_find_the_first(seed):
    columns = columns_of(generated_table(lossy("stack", 1_000, 30, seed)))
    options = CheckOptions(limits=Limits(seconds=0))
    (judged,) = judge_columns(Stack(), columns, options)
    assert judged.verdict is Verdict.INVALID
    assert not judged.findings[0].is_first


def test_of_a_short_key_the_general_engine_tells_which_is_the_first(monkeypatch):
    """The engine shows it by counting, but finds no order of what came before."""
    monkeypatch.setattr(stack_repeated, "searched", lambda *_: None)
    monkeypatch.setattr(stack_repeated, "swept", lambda *_: None)
    options = GenerateOptions(model="stack", operations=3_000, keys=60, corrupt="duplicate", seed=1)
    judged = judge_columns(Stack(), columns_of(generated_table(options)), CheckOptions())
    (invalid,) = (one for one in judged if one.verdict is not Verdict.VALID)
    assert invalid.findings[0].is_first
