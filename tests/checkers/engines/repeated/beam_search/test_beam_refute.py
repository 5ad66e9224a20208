"""What the search by returns shows of a few registers, or of the last calls before a return."""

from random import Random
from unittest.mock import patch

import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.repeated.beam_search import refute as beam_refute
from kraftproof.checkers.engines.repeated.beam_search.refute import Refuter
from kraftproof.checkers.engines.repeated.layout import Layout, lay_out
from kraftproof.checkers.engines.strings import beam_facts as beam_strings
from kraftproof.checkers.engines.transactions import beam_facts as beam_transactions
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from tests.support.checkers import reference
from tests.support.checkers.columnar import calls_of, decided, history
from tests.support.checkers.narrow_beam import with_room
from tests.support.checkers.random_histories import draw_append, draw_txn, random_history
from tests.support.long_cases import long, mostly_long
from tests.support.random_cases import random_cases

FACTS = {"kv-append": beam_strings.facts_of, "multi-register": beam_transactions.facts_of}
MEMORY = 1 << 28
RETURNS = random_cases(12, share=6)
"""Returns of each valid history, of which none may be refuted."""
NARROW = ({"_FIRST_MOST": 1, "_APART": 1, "_DEPTH": 0, "_PLACES": 2}, {"_FIRST_MOST": 2})
"""So little room that the search gets stuck where an order goes on, or where none does."""


def generated(model: str, corrupt: str | None = None, **options) -> tuple[list[Operation], int]:
    """A history and the row of its wrong answer."""
    chunks = Chunks(GenerateOptions(model=model, corrupt=corrupt, **options))
    operations = [operation for table in chunks for operation in operations_of(table)]
    return operations, -1 if chunks.corrupted is None else chunks.corrupted.index


def layout_of(model: str, operations: list[Operation]) -> Layout:
    calls = calls_of(model, operations)
    layout = lay_out(FACTS[model](calls, 0, len(calls)))
    assert layout is not None
    return layout


@pytest.mark.parametrize("model", mostly_long([(name, name) for name in FACTS], ["kv-append"]))
@pytest.mark.parametrize("returns", [long(1), 3, long(16)])
def test_no_return_of_a_valid_history_is_refuted(model, returns):
    random = Random(returns)
    for seed in range(6):
        settings = {"concurrency": random.choice([3, 6]), "indeterminate": random.choice([0, 0.05])}
        operations, _ = generated(model, operations=150, values=3, seed=seed, **settings)
        layout = layout_of(model, operations)
        refuter = Refuter(layout, MEMORY)
        with patch.object(beam_refute, "_FIRST_RETURNS", returns):
            for position in random.sample(range(len(layout.returning)), RETURNS):
                assert refuter.shown(position, NEVER, 64) is None


@pytest.mark.long
def test_what_one_register_alone_shows_is_decided_where_the_search_drops_configurations():
    settings = {"operations": 400, "concurrency": 20, "values": 5}
    shown = 0
    for seed in range(8):
        try:
            operations, wrong = generated("multi-register", "stale-read", seed=seed, **settings)
        except CheckerInputError:
            continue  # this one has no place for it
        layout = layout_of("multi-register", operations)
        event = Refuter(layout, MEMORY).shown(0, NEVER, 512)
        assert event == operations[wrong].complete_index
        shown += 1
    assert shown > 2


def test_what_shows_in_two_registers_only_is_found():
    """Both are written together, and read together as they never were."""
    calls = []
    for number in range(20):
        told = [["write", "x", number % 2], ["write", "y", number % 2]]
        calls.append(("txn", told, told, 2 * number, 2 * number + 1))
    reads = [["read", "x", None], ["read", "y", None]]
    found = [["read", "x", 0], ["read", "y", 1]]
    late = ("txn", [["write", "x", 0], ["write", "y", 0]], None, 40, 90)
    asked = [["write", "x", 0], ["write", "y", 0]]
    operations = history(*calls, (*late[:2], asked, *late[3:]), ("txn", reads, found, 41, 42))
    layout = layout_of("multi-register", operations)
    position = layout.complete[layout.returning].tolist().index(42)
    assert Refuter(layout, MEMORY).shown(position, NEVER, 64) == 42
    assert decided("multi-register", operations).verdict is Verdict.INVALID


@pytest.mark.parametrize(
    ("model", "draw", "apply"),
    [
        ("kv-append", draw_append, reference.kv_append),
        ("multi-register", draw_txn, reference.multi_register(0)),
    ],
)
@pytest.mark.long
def test_what_is_refuted_is_what_the_whole_search_finds(model, draw, apply):
    random, shown = Random(3), []
    original = Refuter.shown

    def spied(self, *arguments):
        shown.append(original(self, *arguments))
        return shown[-1]

    for _ in range(random_cases(400, share=4)):
        operations = random_history(random, draw, apply, random.choice([8, 10, 14]), 6)
        whole = decided(model, operations)
        with (
            with_room(random.choice(NARROW)),
            patch.object(beam_refute, "_FIRST_RETURNS", random.choice([1, 2, 16])),
            patch.object(Refuter, "shown", spied),
        ):
            narrow = decided(model, operations)
        if narrow.verdict is not Verdict.UNKNOWN:
            assert (narrow.verdict, narrow.first_illegal_row) == (
                whole.verdict,
                whole.first_illegal_row,
            )
            assert narrow.linearizable == whole.linearizable
    assert None in shown
    assert len([event for event in shown if event is not None]) > 1


@pytest.mark.long
def test_a_stale_read_among_twenty_clients_is_found():
    operations, wrong = generated(
        "multi-register", "stale-read", operations=1_000, concurrency=20, values=5, seed=1
    )
    (outcome,) = registry.decide(calls_of("multi-register", operations), Limits(seconds=10))
    assert outcome is not None
    assert (outcome.verdict, outcome.first_illegal_row) == (Verdict.INVALID, wrong)
