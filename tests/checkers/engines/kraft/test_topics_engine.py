"""The compiled engine of topic names: its verdicts, its orders, its limits, long histories."""

from random import Random

import msgspec
import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.kraft import topics
from kraftproof.checkers.engines.wgl.plan import plan_of
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.explain.linearization.engine_orders import engine_order
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.explain.reduction.update_order import order_from_hints
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_of, operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.reducible import OrderHint
from kraftproof.checkers.models.topics import Topics
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.kraft.test_topics import LOST_CREATE, A, B, created, delete, in_series, lookup
from tests.support.checkers import reference
from tests.support.checkers.differential import as_keys
from tests.support.checkers.explained import whole_proof
from tests.support.checkers.random_histories import draw_topics, random_history, some_lost
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

MODEL = Topics()
HISTORIES = random_cases(2_000, share=16)
OPERATIONS = 30_000 if is_long() else 400
IDS = 12
LOST_DELETE = ("delete", {"by": "name"}, None)
LOST_END = ("delete", {"by": "id", "id": A}, None)
SEEN = [lookup("exists"), lookup("absent")]
ROOMS = (1, 2, 4, 8, 16, 1024)
"""So little room at first that sweeps have to go on with more, and leave steps out."""
rooms = pytest.mark.parametrize("room", [topics._CAPACITIES, ROOMS], ids=["as it is", "little"])


def draw_by_id(random, state):
    """Draws more ids than `draw_topics`, so that few are given twice and many asked for later."""
    if random.random() < 0.6:
        return draw_topics(random, state)
    drawn = f"id {random.randrange(IDS)}"
    if random.random() < 0.5:
        return created(drawn)
    return delete(random.choice(["deleted", "absent"]), random.choice([state or drawn, drawn]))


def lossy_history(random, sizes):
    """A random history of which up to half of the answers were lost."""
    size, processes = random.choice(sizes), random.randrange(1, 9)
    history = random_history(random, draw_by_id, reference.topics, size, processes)
    return some_lost(random, history, lost)


def lost(operation):
    if operation.status != "ok" or operation.f in {"lookup", "describe"}:
        return operation
    return msgspec.structs.replace(operation, status="info", output=None, complete_index=None)


def decided(histories):
    """What the engine says of each history, with rows that count within it."""
    columns = columns_of(operations_table(as_keys(histories)))
    outcomes = registry.decide(MODEL.calls_of(columns), Limits())
    starts = columns.starts.tolist()
    return [
        outcome and outcome.within(start) for start, outcome in zip(starts, outcomes, strict=False)
    ]


def generated(corrupt, concurrency, operations=OPERATIONS, indeterminate=0.05):
    return GenerateOptions(
        model="topics",
        operations=operations,
        concurrency=concurrency,
        indeterminate=indeterminate,
        corrupt=corrupt,
        seed=0,
    )


def is_legal_order(sub, indices):
    places = {index: place for place, index in enumerate(indices)}
    plan = plan_of(MODEL, list(sub.entries))
    numbers = [places.get(one.index) for one in plan.operations]
    turns = [None if number is None else OrderHint("order", number) for number in numbers]
    return order_from_hints(MODEL, plan, turns, MODEL.init()) is not None


def at(times, steps):
    """Operations with the events of their beginnings and ends, a process each."""
    return [
        msgspec.structs.replace(one, process=place, invoke_index=begun, complete_index=ended)
        for place, (one, (begun, ended)) in enumerate(zip(in_series(steps), times, strict=True))
    ]


@rooms
def test_it_agrees_with_the_search_wherever_answers_are_lost(room, monkeypatch):
    monkeypatch.setattr(topics, "_CAPACITIES", room)
    random = Random("lost answers about topics")
    histories = [lossy_history(random, [6, 10, 14, 20, 28]) for _ in range(HISTORIES)]
    verdicts = []
    for history, own in zip(histories, decided(histories), strict=True):
        if own is not None:
            found = check_linearizable(MODEL, history, Limits()).among(history)
            told = (found.verdict, found.first_illegal_row, found.linearizable)
            assert (own.verdict, own.first_illegal_row, own.linearizable) == told, history
            verdicts.append(own.verdict)
    assert len(verdicts) > HISTORIES / 2
    assert len(verdicts) / 4 < verdicts.count(Verdict.INVALID) < len(verdicts) * 3 / 4


@rooms
def test_its_order_of_a_legal_prefix_is_legal(room, monkeypatch):
    monkeypatch.setattr(topics, "_CAPACITIES", room)
    random, shown = Random("orders of topics"), 0
    for _ in range(HISTORIES // 4):
        history = lossy_history(random, [4, 6, 8, 10])
        end = random.randrange(20)
        sub = prefix(MODEL, history, end)
        if decided([history]) == [None] or not is_linearizable(MODEL, sub):
            continue
        indices = engine_order(MODEL, history, end, 1.0)
        assert indices is not None
        assert is_legal_order(sub, indices), (history, end)
        shown += len(indices) > 1
    assert shown > HISTORIES / 40


def test_its_order_of_a_long_history_is_legal_though_steps_are_left_out(monkeypatch):
    monkeypatch.setattr(topics, "_CAPACITIES", ROOMS)
    history = operations_of(generated_table(generated(None, 20, operations=4_000)))
    indices = engine_order(MODEL, history, 1 << 62, 1.0)
    assert is_legal_order(prefix(MODEL, history, 1 << 62), indices)


@pytest.mark.parametrize(
    ("corrupt", "concurrency", "indeterminate"),
    [
        (None, 50, 0),
        (None, 20, 0.05),
        ("gone-id", 50, 0),
        ("gone-id", 20, 0.05),
        *(long(corrupt, 20, 0) for corrupt in (None, "gone-id")),
        *(long(corrupt, 50, 0.05) for corrupt in (None, "gone-id")),
    ],
)
def test_a_long_history_is_decided(corrupt, concurrency, indeterminate):
    options = generated(corrupt, concurrency, indeterminate=indeterminate)
    (judged,) = judge_columns(MODEL, columns_of(generated_table(options)), CheckOptions())
    assert judged.verdict is (Verdict.INVALID if corrupt else Verdict.VALID)
    assert all(finding.is_first for finding in judged.findings)


def test_of_a_long_history_with_lost_answers_two_operations_are_told():
    assert len(whole_proof(generated("gone-id", 20)).constraints) == 2


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(seconds=0.001), "no verdict within 5000 steps of a search"),
        long(Limits(memory_bytes=1_000_000), "no verdict within 1000000 bytes"),
    ],
)
def test_what_would_take_more_than_it_may_is_left_unknown(limits, reason):
    options = generated("gone-id", 50, operations=5_000)
    calls = MODEL.calls_of(columns_of(generated_table(options)))
    (outcome,) = registry.decide(calls, limits)
    assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, reason)
    assert registry.order_of(calls, int(calls.invoke.max()), limits) is None


def test_what_is_dropped_for_want_of_room_makes_nothing_invalid(monkeypatch):
    """A narrow sweep is stuck where a wide one is not: then there is no verdict."""
    monkeypatch.setattr(topics, "_CAPACITIES", (1,))
    random = Random("narrow sweeps over topics")
    histories = [lossy_history(random, [10, 14, 20]) for _ in range(HISTORIES // 4)]
    unknown = 0
    for history, own in zip(histories, decided(histories), strict=True):
        if own is not None and own.verdict is not Verdict.UNKNOWN:
            assert own.verdict is check_linearizable(MODEL, history, Limits()).verdict
        unknown += own is not None and own.verdict is Verdict.UNKNOWN
    assert unknown > 0


@pytest.mark.parametrize(
    ("steps", "first_illegal"),
    [
        ([LOST_CREATE, LOST_DELETE, LOST_DELETE, *SEEN, lookup("exists")], 5),
        ([LOST_CREATE, LOST_CREATE, LOST_DELETE, *SEEN, *SEEN], 6),
        ([LOST_CREATE, LOST_CREATE, LOST_END, *SEEN, *SEEN], 6),
        ([LOST_END, created(), *SEEN], None),
        ([LOST_END, created(B), *SEEN], 3),
        ([LOST_END, created(B), LOST_END, *SEEN], 4),
    ],
)
def test_a_lost_call_takes_effect_once_and_on_what_it_is_about(steps, first_illegal):
    (outcome,) = decided([in_series(steps)])
    assert outcome.first_illegal_row == first_illegal


@pytest.mark.parametrize("is_told_first", [True, False])
def test_a_delete_that_returns_is_used_where_it_spares_a_lost_one(is_told_first):
    """Only by their own lost deletes can both topics before the third one's end be over.

    Of A and a topic whose id nobody was told one is over by the delete that returns, one by a lost
    delete by id. The third topic needs the lost delete by an id that nobody was told.
    """
    lost_end = ("delete", {"by": "id", "id": B}, None)
    before = [LOST_CREATE, LOST_CREATE, LOST_END, lost_end, delete("deleted")]
    seen = [created(), *SEEN, *SEEN] if is_told_first else [*SEEN, created(), *SEEN]
    history = in_series([*before, *seen, *SEEN])
    returns = history[len(before) + len(seen)].invoke_index
    history = [
        msgspec.structs.replace(
            one,
            process=200 + one.index if one.index < len(before) else 0,
            invoke_index=2 * one.invoke_index,
            complete_index=one.complete_index and 2 * one.complete_index,
        )
        for one in history
    ]
    history[4] = msgspec.structs.replace(history[4], complete_index=2 * returns - 1)
    (outcome,) = decided([history])
    assert outcome.verdict is check_linearizable(MODEL, history, Limits()).verdict
    assert outcome.verdict is Verdict.VALID


@pytest.mark.parametrize("then", ["absent", "exists"])
def test_what_answered_more_and_what_spared_a_create_are_both_kept(then):
    """Both have placed the delete that returns, and nothing is there.

    One ended A by that delete, and has its lost create. The other ended A by A's own lost delete,
    and answered the second lookup by the lost create. Each can do what the other can't.
    """
    lookups = [lookup("absent"), lookup("exists"), lookup(then)]
    steps = [created(), LOST_END, LOST_CREATE, delete("deleted"), *lookups]
    times = [(0, 1), (2, None), (3, None), (4, 8), (5, 6), (7, 9), (10, 11)]
    history = at(times, steps)
    (outcome,) = decided([history])
    assert outcome.verdict is check_linearizable(MODEL, history, Limits()).verdict
    assert outcome.verdict is Verdict.VALID


def test_an_id_given_twice_is_left_to_the_search():
    again = [created(), delete("deleted"), created(), lookup("exists")]
    columns = columns_of(operations_table(in_series(again)))
    calls = MODEL.calls_of(columns)
    assert registry.decide(calls, Limits()) == [None]
    assert registry.order_of(calls, 8, Limits()) is None
    assert check_linearizable(MODEL, in_series(again), Limits()).verdict is Verdict.VALID


@pytest.mark.parametrize(("many", "is_decided"), [(63, True), (64, False)])
def test_more_calls_open_than_a_word_has_bits_are_left_to_the_search(many, is_decided):
    steps = [created(), *[lookup("exists")] * (many - 1)]
    history = at([(place, many + place) for place in range(many)], steps)
    (outcome,) = decided([history])
    assert (outcome is not None) == is_decided
