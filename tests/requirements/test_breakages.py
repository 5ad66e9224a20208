"""A requirement's tests go red when the behaviour is broken, each broken once on purpose."""

import pytest

from scripts.requirements import read_rows
from tests.requirements import edits
from tests.requirements.breakage import BREAKAGES, FOLDER, Breakage, breakages_of
from tests.requirements.edits import Verdict
from tests.support.long_cases import mostly_long

QUICK_FILES = ("forwarding", "quorum")
QUICK = [breakages_of(FOLDER / f"{name}.toml")[0].name for name in QUICK_FILES]
"""Breakages that `make test` tries; `make requirement-edits` and `make test-long` try all."""


@pytest.mark.parametrize(
    "breakage", mostly_long([(breakage.name, breakage) for breakage in BREAKAGES], QUICK)
)
def test_the_tests_of_a_requirement_notice_a_node_that_breaks_it(breakage: Breakage) -> None:
    verdict, reason = edits.tried(breakage)
    assert verdict is Verdict.RED, reason


def test_each_edit_has_a_name_of_its_own_and_fits_its_module_once() -> None:
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES)
    problems = {breakage.name: breakage.problem for breakage in BREAKAGES if breakage.problem}
    assert problems == {}


def test_each_requirement_has_an_edit_that_breaks_it() -> None:
    assert {row.requirement for row in read_rows()} == {each.requirement for each in BREAKAGES}


@pytest.mark.parametrize(
    ("status", "output", "verdict"),
    [
        (1, "FAILED tests/a.py::b - AssertionError\n1 failed, 2 passed in 1 s", Verdict.RED),
        (0, "3 passed in 1 s", Verdict.GREEN),
        (20, "3 passed in 1 s", Verdict.UNRUN),
        (1, "1 failed, 1 error in 1 s", Verdict.UNRUN),
        (5, "no tests ran in 1 s", Verdict.UNRUN),
        (4, "", Verdict.UNRUN),
    ],
)
def test_only_a_failed_test_is_red(status: int, output: str, verdict: Verdict) -> None:
    assert edits.verdict_of(status, output)[0] is verdict


def test_an_edit_that_no_longer_applies_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    (row, *_) = read_rows()
    gone = Breakage(
        requirement=row.requirement, title="gone", module="node.core.gate", old="not there", new=""
    )
    assert edits.report([gone], [row]) == 1
    printed = capsys.readouterr().out
    assert "NO FIT  595-01  gone | 0 s, kraftproof.node.core.gate has the text 0 times" in printed
    assert "1 edits of 1 rows: 0 red, 0 GREEN, 0 NOT RUN, 1 NO FIT; 0 rows without" in printed
