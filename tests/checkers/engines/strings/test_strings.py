"""Strings of unique pieces: what blocks forbid, what lost answers allow, what is left to a search.

That the engine agrees with trying every order is in test_against_reference.
"""

import pytest

from kraftproof.checkers.engines.strings import strings
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import decided, history, in_turn, judged
from tests.support.checkers.differential import run_batch

APPENDS = [("append", "<1>", None, 0, 9), ("append", "<2>", None, 1, 10)]


def test_an_answer_tells_the_order_of_what_was_open_together():
    seen = ("get", None, "<2><1>", 11, 12)
    assert decided("kv-append", history(*APPENDS, seen)).verdict is Verdict.VALID
    other = ("get", None, "<1><2>", 13, 14)
    assert decided("kv-append", history(*APPENDS, seen, other)).first_illegal_row == 3


def test_what_was_appended_stays_until_a_put():
    shorter = ("get", None, "<1>", 11, 12)
    assert decided("kv-append", history(*APPENDS, shorter)).first_illegal_row == 2
    put = ("put", "<3>", None, 11, 20)
    fresh, late = ("get", None, "<3>", 13, 14), ("get", None, "<1><2>", 15, 16)
    assert decided("kv-append", history(*APPENDS, put, fresh)).verdict is Verdict.VALID
    assert decided("kv-append", history(*APPENDS, put, fresh, late)).first_illegal_row == 4


def test_appends_keep_to_real_time_though_nobody_saw_them_before():
    steps = [("append", "<1>", None), ("append", "<2>", None), ("get", None, "<2><1>")]
    assert decided("kv-append", in_turn(*steps)).first_illegal_row == 2


def test_an_append_within_what_was_seen_would_have_been_seen():
    steps = [("append", "<1>", None), ("append", "<2>", None), ("append", "<3>", None)]
    assert decided("kv-append", in_turn(*steps, ("get", None, "<1><3>"))).first_illegal_row == 3
    lost = history(("append", "<1>", None, 0, 1), ("append", "<2>", None, 2, None))
    assert decided("kv-append", lost).verdict is Verdict.VALID


@pytest.mark.parametrize("shown", ["<9>", "<1><1>", "<2><3>", "<1", "1>"])
def test_an_answer_that_no_pieces_make_is_refused(shown):
    steps = [("append", "<1>", None), ("append", "<2>", None), ("put", "<3>", None)]
    outcome = decided("kv-append", in_turn(*steps, ("get", None, shown)))
    assert (outcome.first_illegal_row, outcome.linearizable) == (3, 3)


def test_a_lost_append_counts_from_when_it_is_seen():
    lost = ("append", "<1>", None, 0, None)
    gets = [("get", None, "", 1, 2), ("get", None, "<1>", 3, 4), ("get", None, None, 5, 6)]
    assert decided("kv-append", history(lost, *gets[:2])).verdict is Verdict.VALID
    assert decided("kv-append", history(lost, *gets)).first_illegal_row == 3


def test_an_append_of_nothing_changes_nothing():
    steps = [("put", "<1>", None), ("append", "", None), ("get", None, "<1>")]
    assert decided("kv-append", in_turn(*steps)).verdict is Verdict.VALID


@pytest.mark.parametrize("texts", [("<1>", "<1>"), ("1", "12"), ("", "<1>")])
def test_pieces_that_can_not_be_told_apart_are_searched(texts):
    steps = [("put", text, None) for text in texts]
    right = in_turn(*steps, ("get", None, texts[-1]))
    assert decided("kv-append", right).engine == "beam"
    assert judged("kv-append", right).verdict is Verdict.VALID
    wrong = in_turn(*steps, ("get", None, "".join(texts) + "?"))
    assert judged("kv-append", wrong).verdict is Verdict.INVALID


@pytest.mark.parametrize("rule", ["_is_ordered", "_are_apart"])
def test_an_engine_without_one_of_its_rules_is_caught(rule, monkeypatch):
    monkeypatch.setattr(strings, rule, lambda *_: True)
    assert any(run_batch("kv-append/pieces", seed).wrong for seed in range(1, 4))


def test_an_engine_that_forgets_who_comes_second_is_caught(monkeypatch):
    monkeypatch.setattr(strings, "_second", lambda *_: strings.NEVER)
    assert any(run_batch("kv-append/pieces", seed).wrong for seed in range(1, 4))
