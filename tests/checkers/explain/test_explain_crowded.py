"""Short histories of many clients, with so much open or lost that trying all of it is hopeless."""

import pytest

from kraftproof.checkers.engines.repeated.stack import stack as stack_repeated
from kraftproof.checkers.explain import explain
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.models.stack import Stack
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.explained import whole_proof
from tests.support.long_cases import long


def crowded(
    model: str,
    kind: str,
    operations: int,
    concurrency: int,
    lost: float,
    seed: int,
    values: int | None = None,
) -> GenerateOptions:
    """Options of a history with one wrong answer; each value is used once, or there are few."""
    return GenerateOptions(
        model=model,
        operations=operations,
        concurrency=concurrency,
        values=values,
        indeterminate=lost,
        corrupt=kind,
        seed=seed,
    )


@pytest.mark.parametrize(
    ("options", "most"),
    [
        # An engine says of any elements whether they show it, of a hundred or of three; one lost
        # take is left, which has nothing to take as long as those that took them happened.
        long(crowded("stack", "out-of-order", 1_000, 30, 0.1, 3), 7),
        long(crowded("stack", "out-of-order", 1_000, 30, 0.1, 8), 9),
        long(crowded("priority-queue", "out-of-order", 1_000, 30, 0.1, 1), 5),
        # An engine reads what was open with the answer that it got later.
        long(crowded("fencing-lock", "stale-token", 2_000, 20, 0.05, 1), 3),
        # A window begins in no state that only a later call leads to.
        long(crowded("topics", "gone-id", 1_000, 50, 0.1, 5), 3),
        # Two deletes of what was created once: seen from the beginning alone.
        long(crowded("topics", "gone-id", 1_000, 50, 0.05, 33), 3),
        # A read swapped two elements, and there are others that it did not see, which are open.
        (crowded("list-append", "reordered", 200, 30, 0.1, 2), 3),
        # Each of two reads saw an element that the other did not.
        long(crowded("list-append", "lost-append", 1_000, 50, 0.05, 33), 3),
        # The other update of the same value was over long before.
        long(crowded("cas-register", "lost-update", 1_000, 50, 0.05, 33), 3),
        # What overwrote it was the last to begin before the read, and many were over later.
        long(crowded("map", "stale-read", 2_000, 50, 0.02, 74, values=8), 2),
        # What is read was written by a transaction that is open, and can't have read what it did.
        long(crowded("multi-register", "phantom", 2_000, 50, 0.02, 36), 2),
        long(crowded("multi-register", "stale-read", 2_000, 50, 0.02, 36), 3),
        # An order is noted, however many ways there are that come to nothing.
        long(crowded("multi-register", "phantom", 2_000, 50, 0.02, 74, values=8), 1),
        # What seems best comes to nothing, whatever one holds to be good.
        long(crowded("multi-register", "stale-read", 5_000, 40, 0.01, 83, values=6), 2),
        # Eleven calls show it, with more orders than can be tried; sixteen of two pieces do, too.
        long(crowded("kv-append", "lost-append", 3_000, 30, 0.3, 37), 16),
    ],
)
def test_what_may_have_happened_beside_does_not_hide_what_shows_it(options, most):
    assert len(whole_proof(options).constraints) <= most


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 8])
def test_what_is_shown_is_invalid_even_where_there_is_no_time_to_find_the_first(seed):
    columns = columns_of(generated_table(crowded("stack", "out-of-order", 1_000, 30, 0.1, seed)))
    options = CheckOptions(limits=Limits(seconds=0))
    (judged,) = judge_columns(Stack(), columns, options)
    assert judged.verdict is Verdict.INVALID
    assert not judged.findings[0].is_first


@pytest.mark.long
def test_an_order_that_is_known_to_be_there_is_looked_for_longer():
    model = models()["multi-register"]
    assert isinstance(model, SequentialModel)
    options = crowded("multi-register", "phantom", 2_000, 50, 0.02, 74, values=8)
    columns = columns_of(generated_table(options))
    (judged,) = judge_columns(model, columns, CheckOptions())
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    known, unknown = (
        explain(
            model, judged.key, columns.operations(0), first_illegal, seconds=0.3, is_first=is_first
        )
        for is_first in (True, False)
    )
    assert known.linearized == known.linearizable
    assert unknown.linearized < unknown.linearizable


def test_of_a_short_key_the_general_engine_tells_which_is_the_first(monkeypatch):
    """The engine shows it by counting, but finds no order of what came before."""
    monkeypatch.setattr(stack_repeated, "searched", lambda *_: None)
    monkeypatch.setattr(stack_repeated, "swept", lambda *_: None)
    options = GenerateOptions(model="stack", operations=3_000, keys=60, corrupt="duplicate", seed=1)
    judged = judge_columns(Stack(), columns_of(generated_table(options)), CheckOptions())
    (invalid,) = (one for one in judged if one.verdict is not Verdict.VALID)
    assert invalid.findings[0].is_first
