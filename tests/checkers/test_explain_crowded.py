"""Short histories of many clients, with so much open or lost that trying all of it is hopeless."""

import pytest

from checkers.columns import columns_of
from checkers.engines import stack_repeated
from checkers.generate import GenerateOptions, generated_table
from checkers.judge import judge_columns
from checkers.models.stack import Stack
from checkers.options import CheckOptions, Limits
from checkers.verdict import Verdict
from tests.checkers.explained import whole_proof


def crowded(
    model: str, kind: str, operations: int, concurrency: int, lost: float, seed: int
) -> GenerateOptions:
    """Options of a history with one wrong answer; each value is used once."""
    return GenerateOptions(
        model=model,
        operations=operations,
        concurrency=concurrency,
        values=None,
        indeterminate=lost,
        corrupt=kind,
        seed=seed,
    )


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (crowded("stack", "out-of-order", 300, 20, 0.1, 11), 6),
        (crowded("stack", "out-of-order", 1_000, 30, 0.1, 3), 6),
        (crowded("stack", "out-of-order", 1_000, 30, 0.1, 8), 8),
        (crowded("stack", "out-of-order", 1_000, 30, 0.1, 17), 6),
        (crowded("priority-queue", "out-of-order", 1_000, 30, 0.1, 1), 4),
    ],
)
def test_the_few_elements_are_found_that_no_lost_take_can_have_taken(options, most):
    """An engine says of any elements whether they show it, of a hundred or of three."""
    assert len(whole_proof(options).constraints) <= most


def test_an_engine_reads_what_was_open_with_the_answer_that_it_got_later():
    """Twenty clients use tokens, and which of them are dead by now may be in many orders."""
    options = crowded("fencing-lock", "stale-token", 2_000, 20, 0.05, 1)
    assert len(whole_proof(options).constraints) <= 3


def test_a_window_begins_in_no_state_that_only_a_later_call_leads_to():
    """A topic that was created once is deleted twice, and was not there before the first delete."""
    options = crowded("topics", "gone-id", 1_000, 50, 0.1, 5)
    assert len(whole_proof(options).constraints) <= 3


def test_of_a_read_in_a_wrong_order_the_two_that_it_swapped_are_found():
    """The order before it has elements that it did not see, which are open and show nothing."""
    options = crowded("list-append", "reordered", 200, 30, 0.1, 2)
    assert len(whole_proof(options).constraints) <= 3


@pytest.mark.parametrize("seed", [3, 8])
def test_what_is_shown_is_invalid_even_where_there_is_no_time_to_find_the_first(seed):
    columns = columns_of(generated_table(crowded("stack", "out-of-order", 1_000, 30, 0.1, seed)))
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
