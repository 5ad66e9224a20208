"""Strings and transactions in which pieces and values come again: the search by returns.

That it agrees with trying every order is in test_against_reference; here it is told apart from the
general engine on longer histories, also with so little room that it drops configurations.
"""

from random import Random

import pyarrow as pa
import pytest

from kraftproof.checkers.calls.strings import StringCalls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.repeated.beam_search.beam_search import ENGINE
from kraftproof.checkers.engines.strings.beam_facts import facts_of
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import Columns, columns_of
from kraftproof.checkers.models import ColumnarModel, model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history
from tests.support.checkers.narrow_beam import with_room
from tests.support.checkers.random_histories import draw_append, draw_txn, random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

MODELS = ["kv-append", "multi-register"]
NARROW = {"_FIRST_MOST": 2, "_APART": 2, "_DEPTH": 1}
"""So little room that configurations are dropped, and the search goes back."""


def generated(model: str, **options) -> Columns:
    tables = Chunks(GenerateOptions(model=model, values=5, **options))
    return columns_of(pa.concat_tables(list(tables)))


def outcome_of(model: str, columns: Columns, limits: Limits = LIMITS) -> Outcome:
    known = model_named(model)
    assert isinstance(known, ColumnarModel)
    calls = known.calls_of(columns)
    assert calls is not None
    (outcome,) = registry.decide(calls, limits)
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("operations", [300, long(2_000), long(10_000)])
@pytest.mark.parametrize("model", [MODELS[0], *map(long, MODELS[1:])])
@pytest.mark.long
def test_a_valid_history_of_twenty_clients_is_decided(model, operations):
    outcome = outcome_of(model, generated(model, operations=operations, concurrency=20, seed=1))
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", [1, long(2), long(3)])
def test_what_nothing_wrote_is_found_where_it_is_read(model, seed):
    settings = {"operations": 2_000 if is_long() else 300, "concurrency": 10, "seed": seed}
    columns = generated(model, corrupt="phantom", **settings)
    right = generated(model, **settings)
    (wrong,) = [
        row
        for row in range(len(columns))
        if columns.operation(row).output != right.operation(row).output
    ]
    outcome = outcome_of(model, columns)
    assert (outcome.verdict, outcome.first_illegal_row) == (Verdict.INVALID, wrong)


@pytest.mark.parametrize("room", [{"_FIRST_MOST": 32}, NARROW])
@pytest.mark.parametrize(
    ("model", "draw", "apply"),
    [
        ("kv-append", draw_append, reference.kv_append),
        ("multi-register", draw_txn, reference.multi_register(0)),
    ],
)
def test_it_says_what_the_general_engine_says(model, draw, apply, room):
    random, verdicts = Random(7), {Verdict.VALID: 0, Verdict.INVALID: 0}
    for _ in range(random_cases(150, share=3)):
        operations = random_history(random, draw, apply, random.choice([8, 16, 24]), 6)
        with with_room(room):
            outcome = decided(model, operations)
        assert outcome is not None
        verdicts[outcome.verdict] += 1
    assert min(verdicts.values()) > 10


def test_an_append_that_nobody_saw_may_be_seen_after_all():
    """What is done in one place is used in another before it returns: two equal appends."""
    blind = [("append", "a", None, 0, 9), ("append", "a", None, 1, 4)]
    puts = [("put", "b", None, 2, 5), ("put", "b", None, 6, 7)]
    seen = ("get", None, "ba", 8, 10)
    assert decided("kv-append", history(*blind, *puts, seen)).verdict is Verdict.VALID
    twice = ("get", None, "baa", 8, 10)
    assert decided("kv-append", history(*blind, *puts, twice)).verdict is Verdict.INVALID


def test_a_value_is_there_until_the_return_of_what_finds_another():
    """The get of y is invoked first and waits: x stays until y is put, and is found till then."""
    waits = ("get", None, "y", 2, 10)
    calls = [("put", "x", None, 0, 1), waits, ("get", None, "x", 3, 12), ("put", "y", None, 5, 6)]
    again = ("put", "x", None, 13, 14)
    outcome = decided("kv-append", history(*calls, again))
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)
    late = ("get", None, "x", 11, 12)
    calls = [("put", "x", None, 0, 1), waits, ("put", "y", None, 5, 6), late]
    assert decided("kv-append", history(*calls, again)).verdict is Verdict.INVALID


def test_writes_that_hide_each_other_in_part_keep_their_order():
    """x is overwritten, y stays: the first has to come before the second, unseen."""
    both = ("txn", [["write", "x", 1], ["write", "y", 1]], [["write", "x", 1], ["write", "y", 1]])
    one = ("txn", [["write", "x", 2]], [["write", "x", 2]])
    reads = [["read", "x", None], ["read", "y", None]]
    found = ("txn", reads, [["read", "x", 2], ["read", "y", 1]])
    again = ("txn", [["write", "x", 2]], [["write", "x", 2]])
    calls = [(*both, 0, 20), (*one, 1, 2), (*again, 3, 4), (*found, 5, 6)]
    assert decided("multi-register", history(*calls)).verdict is Verdict.VALID
    lost = ("txn", reads, [["read", "x", 1], ["read", "y", 0]])
    assert decided("multi-register", history(*calls, (*lost, 7, 8))).verdict is Verdict.INVALID


def test_an_answer_is_cut_in_every_way():
    calls = calls_of(
        "kv-append",
        history(
            ("append", "a", None, 0, 1),
            ("append", "ab", None, 2, 3),
            ("append", "b", None, 4, 5),
            ("append", "a", None, 6, 7),
            ("get", None, "aabb", 8, 9),
        ),
    )
    assert isinstance(calls, StringCalls)
    values = facts_of(calls, 0, len(calls)).values
    made = list(zip(values.edge_piece.tolist(), values.edge_to.tolist(), strict=True))
    assert len(values.last) == 5
    assert made == [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("limits", "widest", "reason"),
    [
        long(Limits(seconds=0.001), 8192, "no verdict within 30000 steps of a search"),
        long(Limits(memory_bytes=80_000), 8192, "no verdict within 80000 bytes"),
        long(LIMITS, 2, "no legal order found among the best 2 configurations of each return"),
    ],
)
def test_past_a_limit_it_is_unknown_and_says_which(model, limits, widest, reason):
    operations = 3_000 if is_long() else 300
    columns = generated(model, operations=operations, concurrency=20, seed=1)
    with with_room({"_FIRST_MOST": 1, "_MOST_MOST": widest}):
        outcome = outcome_of(model, columns, limits)
    assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, reason)


def test_more_calls_open_than_there_are_bits_are_left_to_the_general_engine():
    appends = [("append", "a", None, n, 1_000 + n) for n in range(70)]
    calls = calls_of("kv-append", history(*appends, ("get", None, "aa", 500, 501)))
    assert list(registry.decide(calls, LIMITS)) == [None]
