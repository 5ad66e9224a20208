"""A requirement's tests go red when the behaviour is broken, each broken once on purpose."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements.breakage import BREAKAGES, FOLDER, Breakage, breakages_of
from tests.support.long_cases import mostly_long

ROOT = Path(__file__).resolve().parents[2]
TESTS_FAILED = 1
QUICK = [breakages_of(path)[0].name for path in sorted(FOLDER.glob("*.toml"))]
"""Breakages that `make test` tries; `make test-long` tries all."""


@pytest.mark.parametrize(
    "breakage", mostly_long([(breakage.name, breakage) for breakage in BREAKAGES], QUICK)
)
def test_the_tests_of_a_requirement_notice_a_node_that_breaks_it(breakage: Breakage) -> None:
    command = [sys.executable, "-m", "tests.requirements.broken", breakage.name]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == TESTS_FAILED, done.stdout[-2000:] + done.stderr[-2000:]
    assert "1 failed" in done.stdout
    assert "error" not in done.stdout.splitlines()[-1]


def test_each_edit_has_a_name_of_its_own_and_fits_its_module_once() -> None:
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES) > 150
    for breakage in BREAKAGES:
        (edit,) = breakage.mutant.edits
        found = importlib.util.find_spec(edit.module)
        assert found is not None, breakage.name
        assert found.origin is not None, breakage.name
        source = Path(found.origin).read_text(encoding="utf-8")
        assert source.count(edit.old) == 1, breakage.name
        assert edit.new != edit.old, breakage.name
