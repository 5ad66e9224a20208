"""The helpers that keep a part of a test for `make test-long`."""

import pytest

from scripts.run_tests import long_stage, stages
from tests.support.long_cases import mostly_long
from tests.support.random_cases import LONG, random_cases


def test_all_cases_but_the_quick_ones_are_long():
    first, second = mostly_long([("a", (1, 2)), ("b", 3)], quick=["b"])
    assert (first.id, first.values, [mark.name for mark in first.marks]) == ("a", (1, 2), ["long"])
    assert (second.id, second.values, list(second.marks)) == ("b", (3,), [])


def test_a_quick_case_that_is_not_there_is_named():
    with pytest.raises(AssertionError, match=r"no such cases: .*'c'"):
        mostly_long([("a", 1)], quick=["c"])


def test_random_cases_are_all_drawn_by_test_long_only(monkeypatch):
    monkeypatch.delenv(LONG, raising=False)
    assert random_cases(200) == 16
    assert random_cases(200, share=4) == 50
    monkeypatch.setenv(LONG, "1")
    assert random_cases(200) == random_cases(200, share=4) == 200


def test_only_test_long_runs_what_is_long_and_sets_the_variable():
    (command,) = long_stage().commands
    assert command[:2] == ("env", f"{LONG}=1")
    assert command[command.index("-m") + 1].startswith("long or ")
    pytest_commands = [one for stage in stages() for one in stage.commands if "-m" in one[1:]]
    chosen = [one[one.index("-m") + 1] for one in pytest_commands if one[0].endswith("pytest")]
    assert len(chosen) == 7
    assert all(markers.endswith("and not long") for markers in chosen)
