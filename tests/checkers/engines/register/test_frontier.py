"""Registers with repeated values: the frontier, the depth-first search, and the race of the two."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from kraftproof.checkers.calls.register import READ
from kraftproof.checkers.calls.register import register_calls as calls_of
from kraftproof.checkers.engines.register.search import depth_first
from kraftproof.checkers.engines.register.search import portfolio as race
from kraftproof.checkers.engines.register.search.layout import lay_out
from kraftproof.checkers.engines.register.search.portfolio import decide
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.options import Limits
from kraftproof.checkers.text import OTHER_VALUE
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.engines import by_frontier, in_steps
from tests.support.checkers.register_calls import (
    NAMES,
    OPEN,
    cas,
    random_key,
    read,
    register_calls,
    truth_of,
    write,
)
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

LIMITS = Limits(seconds=60)
A, B, C, D = 1, 2, 3, 4


def generated(**options):
    return calls_of(columns_of(generated_table(GenerateOptions(**options))))


def wrong(calls, share, value):
    """The same calls, but one read, at that share of them, answers what it can't have."""
    expected = calls.expected.copy()
    reads = np.flatnonzero(calls.action == READ)
    place = reads[int(share * len(reads))]
    expected[place] = value
    returned = calls.complete[calls.complete < calls.complete[place]]
    return replace(calls, expected=expected), int(calls.rows[place]), len(returned)


def unwritten(calls):
    """The number of a value that no update sets; the initial one, which no call sets again."""
    assert not np.any(calls.new == calls.initial)
    return calls.initial


@pytest.mark.parametrize("engine", [decide, by_frontier, in_steps])
def test_small_registers_against_every_order(engine):
    random = Random(5)
    keys = [random_key(random, random.randrange(1, 9)) for _ in range(random_cases(3000, share=12))]
    calls = register_calls(*keys)
    told = dict.fromkeys(Verdict, 0)
    for number, outcome in enumerate(engine(calls, LIMITS)):
        truth = truth_of(keys[number])
        told[outcome.verdict] += 1
        if truth.first_illegal is None:
            assert outcome.verdict is Verdict.VALID, keys[number]
            continue
        assert outcome.verdict is Verdict.INVALID, keys[number]
        place = calls.starts[number] + keys[number].index(truth.first_illegal)
        assert outcome.first_illegal_row == calls.rows[place], keys[number]
        assert outcome.linearizable == truth.linearizable, keys[number]
        asked = {call[1] for call in keys[number]}
        words = {f"value {NAMES[s]}" if s in asked else OTHER_VALUE for s in truth.states}
        assert words.issuperset(outcome.states), keys[number]
        assert outcome.states
    assert told[Verdict.VALID] > len(keys) // 6
    assert told[Verdict.INVALID] > len(keys) // 6


VALID = {
    "a write that is done has the last word although one that returns later began before it": [
        *(write(C, 0, 20), write(A, 1, 5), read(C, 2, 4), read(A, 6, 7)),
    ],
    "a read was answered between two writes, of which the later one is read first": [
        *(write(A, 0, 30), write(B, 1, 31), read(A, 2, 6), read(B, 3, 5), read(B, 7, 8)),
    ],
    "writing the value that is there makes room for a write before a compare-and-set": [
        *(write(A, 0, 1), write(A, 2, 12), cas(A, B, 3, 6), write(C, 4, 8), read(B, 9, 10)),
    ],
    "a compare-and-set goes on from an earlier block than the current one": [
        *(write(A, 0, 20), write(B, 1, 21), cas(A, C, 2, 9), read(B, 3, 5), read(B, 6, 8)),
        *(read(B, 10, 11),),
    ],
    "two compare-and-sets follow a write that has returned, before the current block": [
        *(write(A, 0, 6), cas(A, C, 1, 10), cas(C, D, 2, 12), write(B, 3, 5), read(B, 7, 13)),
        *(read(D, 4, 14), read(B, 15, 16)),
    ],
    "of two equal writes the one that returns first is used first": [
        *(write(A, 0, 9), write(A, 1, 4), read(A, 2, 3), write(B, 5, 6), read(A, 7, 8)),
    ],
    "an indeterminate write takes effect after all others": [
        *(write(A, 0, OPEN), write(B, 1, 2), read(B, 3, 4), read(A, 5, 6)),
    ],
    "two equal indeterminate compare-and-sets take effect both": [
        *(cas(A, B, 0, OPEN), cas(A, B, 1, OPEN), write(A, 2, 3), read(B, 4, 5)),
        *(write(A, 6, 7), read(B, 8, 9)),
    ],
    "a cycle of compare-and-sets before the one that returns": [
        *(write(A, 0, 1), cas(A, B, 2, 10), cas(B, A, 3, 11), cas(A, C, 4, 6), read(C, 7, 12)),
    ],
}  # fmt: skip
INVALID = {
    "an indeterminate write takes effect once": (
        [*(write(A, 0, OPEN), read(A, 1, 2), write(B, 3, 4), read(A, 5, 6))], 2, 5
    ),
    "a write is over when it has returned": (
        [*(write(A, 0, 1), write(B, 2, 3), read(A, 4, 5))], 2, 4
    ),
    "what was free before the current block is not free in it": (
        [*(write(A, 0, 1), write(B, 2, 9), cas(A, C, 3, 4), read(B, 5, 6), read(C, 7, 8))], 3, 7
    ),
    "a write before the current block needs room there": (
        [*(write(A, 0, 1), read(A, 2, 8), write(B, 3, 4), read(A, 5, 6))], 2, 5
    ),
    "the value at first is gone": ([write(A, 0, 1), read(0, 2, 3)], 1, 2),
}  # fmt: skip


@pytest.mark.parametrize("engine", [decide, by_frontier])
def test_what_legal_orders_there_are(engine):
    assert all(truth_of(key).first_illegal is None for key in VALID.values())
    outcomes = engine(register_calls(*VALID.values()), LIMITS)
    assert {name for name, o in zip(VALID, outcomes, strict=True) if o.verdict != "valid"} == set()


@pytest.mark.parametrize("engine", [decide, by_frontier])
@pytest.mark.parametrize("name", INVALID)
def test_what_legal_orders_there_are_not(engine, name):
    key, linearizable, invoke = INVALID[name]
    calls = register_calls(key)
    (outcome,) = engine(calls, LIMITS)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.linearizable == linearizable
    assert calls.invoke[outcome.first_illegal_row // 2] == invoke


READ_WRITE = {"read": 1.0, "write": 1.0}
SHAPES = [(5, 0.0, None), (10, 0.0, None), (10, 0.01, None), (64, 0.0, READ_WRITE)]


@pytest.mark.parametrize(("concurrency", "indeterminate", "mix"), SHAPES)
def test_large_registers_are_valid_and_their_twins_are_not(concurrency, indeterminate, mix):
    calls = generated(
        operations=3000 if is_long() else 500,
        concurrency=concurrency,
        indeterminate=indeterminate,
        mix=mix,
        seed=concurrency,
    )
    assert [outcome.verdict for outcome in decide(calls, LIMITS)] == [Verdict.VALID]
    twin, row, linearizable = wrong(calls, 0.2, unwritten(calls))
    for engine in (decide, by_frontier):
        (outcome,) = engine(twin, LIMITS)
        assert outcome.verdict is Verdict.INVALID
        assert (outcome.first_illegal_row, outcome.linearizable) == (row, linearizable)


def test_the_last_returns_alone_refute_a_wrong_answer(monkeypatch):
    """With a budget too small for the frontier, and verdicts as those of every order."""
    monkeypatch.setattr(race, "is_overwritten", lambda *_: False)
    for name, value in {"_FIRST_SWEEP": 1, "_FIRST_RETURNS": 1, "_FIRST_SHARE": 400}.items():
        monkeypatch.setattr(race, name, value)
    refuted = []
    refute = race._Portfolio._refute

    def noted(*arguments):
        outcome = refute(*arguments)
        refuted.append(outcome is not None)
        return outcome

    monkeypatch.setattr(race._Portfolio, "_refute", noted)
    random = Random(9)
    keys = [random_key(random, random.randrange(8, 13)) for _ in range(random_cases(1000, share=8))]
    for key, outcome in zip(keys, decide(register_calls(*keys), LIMITS), strict=True):
        truth = truth_of(key)
        assert (outcome.verdict is Verdict.VALID) == (truth.first_illegal is None), key
        if truth.first_illegal is not None:
            assert outcome.linearizable == truth.linearizable, key
    assert sum(refuted) > len(keys) // 50


@pytest.mark.long
def test_a_wrong_answer_late_in_a_long_history_is_found_from_the_last_returns():
    size = 30_000 if is_long() else 1_500
    calls = generated(operations=size, concurrency=10, indeterminate=0.01, seed=2)
    twin, row, linearizable = wrong(calls, 0.9, unwritten(calls))
    (outcome,) = decide(twin, LIMITS)
    assert (outcome.first_illegal_row, outcome.linearizable) == (row, linearizable)


def test_the_two_searches_agree_on_stale_reads():
    verdicts = []
    for seed in range(30 if is_long() else 3):
        calls = generated(operations=400, concurrency=4, seed=seed, values=5)
        twin, _, _ = wrong(calls, 0.6, int(calls.new.max()) - seed % 3)
        (swept,) = by_frontier(twin, LIMITS)
        found = race._descend(lay_out(twin), np.array([0]), 1000, 1024)[0, 0]
        assert (found == depth_first.VALID) == (swept.verdict is Verdict.VALID)
        assert decide(twin, LIMITS)[0].verdict is swept.verdict
        verdicts.append(swept.verdict)
    assert {*verdicts} == {Verdict.VALID, Verdict.INVALID}


def test_more_calls_are_open_than_a_word_has_bits():
    width = 150
    writes = [write(A + i % 5, i, 1000 + i) for i in range(width)]
    reads = [read(A + i % 5, 200 + 2 * i, 201 + 2 * i) for i in range(width)]
    (outcome,) = decide(register_calls(writes + reads), LIMITS)
    assert outcome.verdict is Verdict.VALID
    (outcome,) = decide(register_calls([*writes, *reads, read(A, 600, 601)]), LIMITS)
    assert outcome.linearizable == width


@pytest.mark.parametrize("engine", [decide, by_frontier])
def test_a_history_with_many_indeterminate_calls_is_decided(engine):
    size = 1000 if is_long() else 200
    calls = generated(operations=size, concurrency=10, indeterminate=0.05, seed=1)
    assert decide(calls, LIMITS)[0].verdict is Verdict.VALID
    twin, row, _ = wrong(calls, 0.3, unwritten(calls))
    (outcome,) = engine(twin, LIMITS)
    assert (outcome.verdict, outcome.first_illegal_row) == (Verdict.INVALID, row)


def hard():
    """A wrong answer among many open compare-and-sets: more than a little time or memory."""
    calls = generated(operations=20_000 if is_long() else 1_000, concurrency=50, seed=3)
    return wrong(calls, 0.9, unwritten(calls))[0]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        long(Limits(seconds=0.05), "no verdict within 0.05 s"),
        long(Limits(memory_bytes=1000), "no verdict within 1000 bytes"),
    ],
)
def test_a_limit_that_is_reached_leaves_the_key_unknown(limits, reason, monkeypatch):
    monkeypatch.setattr(race, "is_overwritten", lambda *_: False)  # which tells it at once
    (outcome,) = decide(hard(), limits)
    assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, reason)


def test_the_same_calls_get_the_same_outcomes():
    random = Random(1)
    calls = register_calls(*(random_key(random, 12) for _ in range(300)))
    assert decide(calls, LIMITS) == decide(calls, LIMITS)


def test_no_calls_are_valid():
    assert [o.verdict for o in decide(register_calls([], [write(A, 0, OPEN)]), LIMITS)] == [
        Verdict.VALID,
        Verdict.VALID,
    ]
