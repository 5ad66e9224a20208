"""Transactions on registers: what the rules forbid, what they leave to a search, what they refuse.

That the engine agrees with trying every order is in test_against_reference.
"""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from kraftproof.checkers.engines.transactions import transactions
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import calls_of, decided, history, judged
from tests.support.checkers.differential import run_batch


def txn(text, *times):
    """A transaction of words such as x=1, a write, and x:1, a read, with its times."""
    actions = [
        ["write" if "=" in word else "read", word[0], int(word[2:])] for word in text.split()
    ]
    return ("txn", actions, actions, *times)


def said(*transactions_):
    return decided("multi-register", history(*transactions_))


def test_a_transaction_sees_all_of_another_or_nothing():
    write = txn("x=1 y=1", 0, 9)
    assert said(write, txn("x:0 y:0", 1, 2), txn("x:1 y:1", 3, 4)).verdict is Verdict.VALID
    assert said(write, txn("x:1 y:0", 1, 2)).first_illegal_row == 1
    assert said(write, txn("x:1 y:1", 1, 2), txn("y:0", 3, 4)).first_illegal_row == 2


def test_two_that_each_read_what_the_other_overwrites_have_no_order():
    skewed = [txn("x:0 y=1", 0, 8), txn("y:0 x=1", 1, 9)]
    assert said(*skewed).first_illegal_row == 1
    assert said(skewed[0], txn("y:1 x=1", 1, 9)).verdict is Verdict.VALID


def test_of_two_that_update_one_value_only_one_can():
    assert said(txn("x:0 x=1", 0, 8), txn("x:0 x=2", 1, 9)).first_illegal_row == 1
    assert said(txn("x:0 x=1", 0, 8), txn("x:1 x=2", 1, 9)).verdict is Verdict.VALID


def test_a_value_between_a_write_and_its_read_is_overwritten():
    writes = [txn("x=1", 0, 1), txn("x=2", 2, 3)]
    assert said(*writes, txn("x:1", 4, 5)).first_illegal_row == 2
    assert said(*writes, txn("x:2", 4, 5)).verdict is Verdict.VALID


def test_a_lost_transaction_counts_in_whole_once_a_part_is_seen():
    lost = ("txn", [["write", "x", 1], ["read", "z", None], ["write", "y", 1]], None, 0, None)
    assert said(lost, txn("x:1", 1, 2), txn("y:0", 3, 4)).first_illegal_row == 2
    assert said(lost, txn("x:0", 1, 2), txn("y:1", 3, 4)).verdict is Verdict.VALID


@pytest.mark.parametrize("text", ["x:7", "x=2 x:3", "x:0 x:2", "x=2 x:0"])
def test_what_nobody_left_or_contradicts_itself_is_refused(text):
    assert said(txn("y=1", 0, 1), txn(text, 2, 3)).first_illegal_row == 1


def test_only_the_last_value_of_a_transaction_is_left():
    assert said(txn("x=1 x=2", 0, 1), txn("x:2", 2, 3)).verdict is Verdict.VALID
    assert said(txn("x=1 x=2", 0, 1), txn("x:1", 2, 3)).first_illegal_row == 1


def test_a_value_that_two_may_have_left_is_searched():
    writes = [txn("x=1", 0, 1), txn("x=1", 2, 3)]
    assert said(*writes, txn("x:1", 4, 5)).engine == "beam"
    assert judged("multi-register", history(*writes, txn("x:1", 4, 5))).verdict is Verdict.VALID
    assert said(*writes, txn("x=2", 4, 5), txn("x:2", 6, 7)).verdict is Verdict.VALID


def open_together(width):
    """Writes and reads all open at once, read in pairs that no order but one allows."""
    writes = [txn(f"x={n}", n, 100) for n in range(1, width)]
    return [*writes, *(txn(f"x:{n} y={n}", 40 + n, 101) for n in range(1, width))]


def test_a_search_that_may_meet_no_dead_end_gives_up_and_guesses_nothing():
    steps = history(*open_together(8), txn("y:3", 200, 201), txn("x:5", 202, 203))
    calls = calls_of("multi-register", steps)
    everything = Limits(seconds=20)
    (outcome,) = transactions.decide(calls, everything)
    with patch.object(transactions, "_STEPS", ((0, 0),)):
        (hasty,) = transactions.decide(calls, everything)
    assert hasty is None or hasty == outcome
    assert transactions.decide(calls, Limits(memory_bytes=100)) == [None]


def test_the_search_alone_decides_as_the_rules_do(monkeypatch):
    monkeypatch.setattr(transactions, "_STEPS", ((0, 1_000_000),))
    for seed in range(1, 4):
        assert not run_batch("multi-register/unique", seed).wrong


def is_caught(seeds=range(1, 6)):
    return any(run_batch("multi-register/unique", seed).wrong for seed in seeds)


def test_an_order_that_is_none_is_not_believed(monkeypatch):
    monkeypatch.setattr(
        transactions, "ordered", lambda history_, *_: (0, np.arange(len(history_.invoke)))
    )
    with pytest.raises(AssertionError, match="an order that was found is legal"):
        is_caught()


def test_an_engine_that_forgets_its_reads_is_caught(monkeypatch):
    def careless(calls, start, end):
        kept = found(calls, start, end)
        return replace(kept, is_absurd=np.zeros_like(kept.is_absurd))

    found = transactions._transactions
    monkeypatch.setattr(transactions, "_transactions", careless)
    assert is_caught()


def test_an_engine_without_real_time_is_caught(monkeypatch):
    def timeless(*of):
        history_ = laid_out(*of)
        return history_._replace(passed=np.zeros_like(history_.passed))

    laid_out = transactions._history
    monkeypatch.setattr(transactions, "_history", timeless)
    monkeypatch.setattr(transactions, "_is_replayed", lambda *_: True)
    assert is_caught()
