"""A requirement's tests go red when the behaviour is broken, each broken once on purpose."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements.breakages import BREAKAGES

ROOT = Path(__file__).resolve().parents[2]
TESTS_FAILED = 1


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name)
def test_the_tests_of_a_requirement_notice_a_node_that_breaks_it(breakage) -> None:
    command = [sys.executable, "-m", "tests.requirements.broken", breakage.name]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == TESTS_FAILED, done.stdout[-2000:] + done.stderr[-2000:]
    assert "1 failed" in done.stdout
    assert "error" not in done.stdout.splitlines()[-1]
