"""A requirement's tests go red when the behaviour is broken, each broken once on purpose."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements.breakages import BREAKAGES
from tests.support.long_cases import mostly_long

ROOT = Path(__file__).resolve().parents[2]
TESTS_FAILED = 1


QUICK = [breakage.name for breakage in BREAKAGES[::4]]
"""Breakages that `make test` tries; `make test-long` tries all."""


@pytest.mark.parametrize(
    "breakage", mostly_long([(breakage.name, breakage) for breakage in BREAKAGES], QUICK)
)
def test_the_tests_of_a_requirement_notice_a_node_that_breaks_it(breakage) -> None:
    command = [sys.executable, "-m", "tests.requirements.broken", breakage.name]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == TESTS_FAILED, done.stdout[-2000:] + done.stderr[-2000:]
    assert "1 failed" in done.stdout
    assert "error" not in done.stdout.splitlines()[-1]
