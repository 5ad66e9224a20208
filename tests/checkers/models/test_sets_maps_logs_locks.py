"""Sets, maps, logs, locks: what each forbids, what lost answers allow, what is refused.

That the engines agree with trying every order is in test_against_reference.
"""

import pytest

from kraftproof.checkers.calls.sets import GrowingSetCalls, SetCalls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import LIMITS, calls_of, decided, history, in_turn, judged


def test_whole_reads_of_a_set_make_a_chain_that_keeps_real_time():
    adds = [("add", n, None, n, 10 + n) for n in (1, 2)]
    first, second = ("read", None, [1], 3, 4), ("read", None, [2, 1], 5, 6)
    assert decided("set", history(*adds, first, second)).verdict is Verdict.VALID
    assert isinstance(calls_of("set", history(*adds, first)), GrowingSetCalls)
    apart = ("read", None, [2], 5, 6)
    assert decided("set", history(*adds, first, apart)).first_illegal_row == 3
    shrunk = ("read", None, [1], 7, 8)
    assert decided("set", history(*adds, second, shrunk)).first_illegal_row == 3
    late = ("read", None, [1], 20, 21)
    assert decided("set", history(*adds, late)).first_illegal_row == 2
    assert decided("set", history(*adds, ("read", None, [1, 1], 3, 4))).first_illegal_row == 2
    assert decided("set", history(*adds, ("read", None, [3], 3, 4))).first_illegal_row == 2


def test_single_elements_of_a_set_are_registers():
    steps = [("add", 1, None), ("contains", 1, True), ("remove", 1, None)]
    assert isinstance(calls_of("set", in_turn(*steps)), SetCalls)
    assert decided("set", in_turn(*steps, ("contains", 1, False))).verdict is Verdict.VALID
    wrong = in_turn(("contains", 2, False), *steps, ("contains", 1, True), ("contains", 2, True))
    outcome = decided("set", wrong)
    assert (outcome.first_illegal_row, outcome.linearizable) == (4, 4)


def test_a_set_that_is_read_whole_and_by_element_is_searched():
    steps = [("add", 1, None), ("contains", 1, True), ("read", None, [1])]
    assert calls_of("set", in_turn(*steps)) is None
    assert judged("set", in_turn(*steps)).verdict is Verdict.VALID
    assert judged("set", in_turn(*steps, ("read", None, []))).verdict is Verdict.INVALID


def test_a_key_of_a_map_is_a_register_that_may_be_absent():
    steps = [("get", None, None), ("put", 1, None), ("get", None, 1), ("remove", 1, None)]
    assert decided("map", in_turn(*steps, ("get", None, None))).verdict is Verdict.VALID
    assert decided("map", in_turn(*steps, ("get", None, 1))).first_illegal_row == 4


def test_a_log_grows_at_its_end():
    produces = [("produce", "a", 3, 0, 1), ("produce", "b", 7, 2, 3)]
    gap, end = ("fetch", 5, None, 4, 5), ("fetch", 8, None, 6, 7)
    assert decided("append-log", history(*produces, gap, end)).verdict is Verdict.VALID
    assert decided("append-log", history(*produces, ("fetch", 7, "a", 4, 5))).first_illegal_row == 2
    assert (
        decided("append-log", history(*produces, ("fetch", 3, None, 4, 5))).first_illegal_row == 2
    )
    assert (
        decided("append-log", history(*produces, ("produce", "c", 5, 4, 5))).first_illegal_row == 2
    )
    assert (
        decided("append-log", history(*produces, ("produce", "c", 7, 4, 5))).first_illegal_row == 2
    )


def test_a_produce_without_an_answer_is_where_it_was_found():
    lost, told = ("produce", "a", None, 0, None), ("produce", "b", 4, 1, 2)
    found, missed = ("fetch", 2, "a", 3, 4), ("fetch", 2, None, 5, 6)
    assert decided("append-log", history(lost, told, found)).verdict is Verdict.VALID
    assert decided("append-log", history(lost, told, found, missed)).first_illegal_row == 3
    late = ("produce", "a", None, 5, None)
    assert decided("append-log", history(told, found, late)).first_illegal_row == 1


def test_what_was_found_before_its_offset_was_told_again_had_been_lost():
    lost, found = ("produce", "a", None, 0, None), ("fetch", 0, "a", 1, 2)
    again = ("produce", "a", 0, 3, 4)
    assert decided("append-log", history(lost, found, again)).first_illegal_row == 2
    assert judged("append-log", history(lost, found, again)).findings[0].operation_index == 2


def test_a_token_is_alive_from_its_grant_to_the_next_or_until_it_was_dead():
    grants = [("lock", None, 1, 0, 1), ("lock", None, 5, 2, 3)]
    alive, dead = ("use", 5, True, 4, 5), ("use", 5, False, 6, 7)
    stale = ("use", 1, True, 4, 5)
    assert decided("fencing-lock", history(*grants, alive, dead)).verdict is Verdict.VALID
    assert decided("fencing-lock", history(*grants, stale)).first_illegal_row == 2
    after = ("use", 5, True, 8, 9)
    assert decided("fencing-lock", history(*grants, alive, dead, after)).first_illegal_row == 4
    back = ("unlock", 5, None, 6, 7)
    assert decided("fencing-lock", history(*grants, alive, back, after)).first_illegal_row == 4
    assert decided("fencing-lock", history(*grants, ("lock", None, 3, 4, 5))).first_illegal_row == 2
    assert decided("fencing-lock", history(*grants, ("lock", None, 5, 4, 5))).first_illegal_row == 2
    assert decided("fencing-lock", history(("use", 9, True, 0, 1))).first_illegal_row == 0
    early = ("use", 5, False, 0, 9)
    assert decided("fencing-lock", history(early, *grants, alive)).verdict is Verdict.VALID


def test_a_lock_is_acquired_and_released_in_turn():
    both = [("acquire", None, None, 0, 3), ("acquire", None, None, 1, 4)]
    release = ("release", None, None, 2, 5)
    assert decided("mutex", history(*both, release)).verdict is Verdict.VALID
    assert decided("mutex", history(*both)).first_illegal_row == 1
    lost = ("release", None, None, 2, None)
    assert decided("mutex", history(*both, lost)).verdict is Verdict.VALID


BAD = {
    "field value: contains answers true or false, not 1": ("set", ("contains", 1, 1)),
    "field value: a read answers a list, not 1": ("set", ("read", None, 1)),
    "field value: put takes a value other than null": ("map", ("put", None, None)),
    "field value: produce answers an integer .* not null": ("append-log", ("produce", 1, None)),
    "field value: fetch takes an integer .* not true": ("append-log", ("fetch", True, None)),
    "field value: fetch takes an integer .* not -9223372036854775808": (
        "append-log",
        ("fetch", -(1 << 63), None),
    ),
    "field value: lock answers an integer .* not \\[1\\]": ("fencing-lock", ("lock", None, [1])),
    "field value: use takes an integer .* not null": ("fencing-lock", ("use", None, True)),
    "field value: use answers true or false, not null": ("fencing-lock", ("use", 1, None)),
}


@pytest.mark.parametrize("message", BAD)
def test_what_a_model_can_not_read_is_refused_in_the_same_words_either_way(message):
    name, step = BAD[message]
    (operation,) = in_turn(step)
    with pytest.raises(ValueError, match=message):
        calls_of(name, [operation])
    with pytest.raises(ValueError, match=message):
        model_named(name).validate(operation)


@pytest.mark.parametrize("name", ["append-log", "fencing-lock", "map", "mutex", "set", "counter"])
def test_wrong_answers_in_long_histories_are_found(name):
    guaranteed = [k for k, what in SUBJECTS[name].corruptions.items() if what.is_guaranteed]
    for kind in [None, *guaranteed]:
        options = GenerateOptions(
            model=name, operations=4000, keys=4, concurrency=5, values=None, indeterminate=0.01,
            failed=0.01, corrupt=kind, seed=9,
        )  # fmt: skip
        (table,) = Chunks(options)
        outcomes = registry.decide(model_named(name).calls_of(columns_of(table)), LIMITS)
        wrong = [outcome.verdict for outcome in outcomes if outcome.verdict is not Verdict.VALID]
        assert wrong == ([Verdict.INVALID] if kind else []), kind
