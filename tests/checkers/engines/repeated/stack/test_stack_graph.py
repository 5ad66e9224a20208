"""The exact sweep over stacks: its verdicts and orders, with room and without, and its limits."""

from random import Random

import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.repeated.stack import graph as stack_graph
from kraftproof.checkers.engines.repeated.stack.graph import swept
from kraftproof.checkers.engines.repeated.stack.layout import calls_of as known_of
from kraftproof.checkers.engines.repeated.stack.order import is_legal, order_of
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from tests.checkers.engines.repeated.stack.test_stack_repeated import generated
from tests.support.checkers import reference
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history
from tests.support.checkers.engines import ENGINES
from tests.support.checkers.random_histories import draw_container, random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

HISTORIES = random_cases(1_000, share=16)
rooms = pytest.mark.parametrize(
    "room", [stack_graph._LEAST_CAPACITY, 2], ids=["as it is", "little"]
)
"""So little at first that sweeps leave out what leads to nothing, and go on with more."""


def drawn(random):
    draw = draw_container("push", "pop", lambda elements: -1, values=random.randrange(1, 4))
    size, processes = random.randrange(2, 12), random.randrange(1, 7)
    return random_history(random, draw, reference.stack, size, processes)


def reached(known, first_illegal):
    """How many completions are before that of a call, or how many there are."""
    completions = known.complete[known.levels]
    return (
        len(known.levels)
        if first_illegal is None
        else int((completions < known.complete[first_illegal]).sum())
    )


def sweep(calls, limits=LIMITS):
    """What a sweep finds, its order stepped through."""
    known = known_of(calls, 0, len(calls))
    found = swept(known, len(known.levels), limits)
    assert found is None or is_legal(known, reached(known, found.first_illegal), found.order)
    return found


@rooms
def test_it_finds_what_trying_every_order_finds(room, monkeypatch):
    monkeypatch.setattr(stack_graph, "_LEAST_CAPACITY", room)
    random, seen = Random("stacks, all that may be inside"), {True: 0, False: 0}
    for _ in range(HISTORIES):
        operations = drawn(random)
        calls = calls_of("stack", operations)
        found = sweep(calls)
        truth = reference.find_first_illegal(reference.stack, operations)
        row = None if found.first_illegal is None else calls.rows[found.first_illegal]
        assert row == (None if truth is None else operations.index(truth)), operations
        seen[truth is None] += 1
    assert min(seen.values()) > HISTORIES / 10


@pytest.mark.parametrize("seed", [1, long(6)])
@pytest.mark.long
def test_long_valid_histories_are_decided_whatever_the_search_finds(seed):
    calls = generated(operations=4_000, seed=seed)
    (outcome,) = registry.decide(calls, LIMITS)
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, "stack-graph")
    assert sweep(calls).first_illegal is None


@pytest.mark.parametrize("room", [stack_graph._LEAST_CAPACITY, long(16)])
@pytest.mark.parametrize("corrupt", ["phantom", long("false-empty"), long("duplicate")])
def test_of_a_long_invalid_history_the_first_that_is_stuck_is_told(corrupt, room, monkeypatch):
    monkeypatch.setattr(stack_graph, "_LEAST_CAPACITY", room)
    calls = generated(operations=3_000 if is_long() else 200, corrupt=corrupt, seed=3)
    (outcome,) = registry.decide(calls, LIMITS)
    assert (outcome.verdict, outcome.engine) == (Verdict.INVALID, "stack-graph")
    found = sweep(calls)
    assert calls.rows[found.first_illegal] == outcome.first_illegal_row
    before = int(calls.complete[found.first_illegal]) - 1
    assert order_of(calls, before, LIMITS) is not None
    assert order_of(calls, before + 1, LIMITS) is None


@pytest.mark.parametrize("corrupt", [long(None), "phantom", long("out-of-order")])
@pytest.mark.parametrize("seed", [0, long(1), long(2)])
def test_of_elements_put_once_it_says_what_their_own_engine_says(corrupt, seed):
    operations = 10_000 if is_long() else 150
    calls = generated(operations=operations, values=None, corrupt=corrupt, seed=seed)
    (theirs,) = registry.decide(calls, LIMITS)
    (own,) = ENGINES["stack-graph"](calls, LIMITS)
    assert (theirs.engine, own.engine) == ("stack", "stack-graph")
    assert (own.verdict, own.first_illegal_row) == (theirs.verdict, theirs.first_illegal_row)
    assert own.linearizable == theirs.linearizable


def test_a_lost_put_has_its_effect_once_and_only_when_it_has_begun():
    lost, take = ("push", 1, None, 2, None), ("pop", None, 1, 3, 4)
    assert sweep(calls_of("stack", history(lost, take))).first_illegal is None
    again = ("pop", None, 1, 5, 6)
    assert sweep(calls_of("stack", history(lost, take, again))).first_illegal == 2
    late = ("push", 1, None, 7, None)
    assert sweep(calls_of("stack", history(lost, take, again, late))).first_illegal == 2
    other = ("push", 2, None, 0, None)
    assert sweep(calls_of("stack", history(other, take))).first_illegal == 1


def test_a_lost_take_has_its_effect_once_and_only_when_it_has_begun():
    puts = [("push", n, None, 2 * n, 2 * n + 1) for n in (1, 2, 3)]
    lost, take = ("pop", None, None, 8, None), ("pop", None, 2, 9, 10)
    assert sweep(calls_of("stack", history(*puts, lost, take))).first_illegal is None
    deeper = ("pop", None, 1, 9, 10)
    assert sweep(calls_of("stack", history(*puts, lost, deeper))).first_illegal == 4
    late = ("pop", None, None, 11, None)
    assert sweep(calls_of("stack", history(*puts, take, late))).first_illegal == 3
    outcome = decided("stack", history(*puts, lost, take))
    assert outcome.verdict is Verdict.VALID


def test_a_lost_take_lets_another_come_before_what_is_put():
    """After the lost one alone nothing is put: it can as well come later; here it can't."""
    puts = [("push", n, None, 2 * n, 2 * n + 1) for n in (1, 2)]
    lost, take = ("pop", None, None, 6, None), ("pop", None, 1, 7, 10)
    assert (
        sweep(calls_of("stack", history(*puts, lost, take, ("push", 3, None, 8, 9)))).first_illegal
        is None
    )
    none = ("pop", None, None, 7, 10)
    both = ("pop", None, None, 5, None)
    of_none = history(*puts, both, lost, none, ("push", 3, None, 8, 9))
    assert sweep(calls_of("stack", of_none)).first_illegal is None


@pytest.mark.long
def test_where_much_was_lost_it_says_what_the_general_engine_says():
    random, seen = Random("lost calls of stacks"), {True: 0, False: 0}
    while min(seen.values()) < 80:
        options = {
            "operations": random.choice([10, 16, 24, 40]),
            "concurrency": random.randrange(2, 8),
            "values": random.randrange(1, 4),
            "indeterminate": random.choice([0.1, 0.2, 0.35]),
            "seed": random.randrange(1_000_000),
            "corrupt": random.choice([None, "any", "duplicate", "false-empty", "phantom"]),
        }
        try:
            columns = columns_of(next(iter(Chunks(GenerateOptions(model="stack", **options)))))
        except CheckerInputError:
            continue  # no place for that kind in this history
        model, operations = model_named("stack"), columns.operations(0)
        truth = check_linearizable(model, operations, LIMITS).among(operations).first_illegal_row
        found = sweep(model.calls_of(columns))
        row = (
            None
            if found.first_illegal is None
            else model.calls_of(columns).rows[found.first_illegal]
        )
        assert row == truth, options
        seen[truth is None] += 1


@pytest.mark.parametrize(
    "limits", [Limits(seconds=0.001), Limits(memory_bytes=1_000_000)], ids=["time", "memory"]
)
def test_past_its_limits_nothing_is_said(limits):
    assert sweep(generated(operations=1_000, seed=1), limits) is None


def test_where_more_was_lost_than_a_number_tells_nothing_is_said():
    some = [("push", n, None, 2 * n, None) for n in range(62)]
    take = ("pop", None, 3, 200, 201)
    assert sweep(calls_of("stack", history(*some[:61], take))).first_illegal is None
    assert sweep(calls_of("stack", history(*some, take))) is None
