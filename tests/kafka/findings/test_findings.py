"""The scripts of docs/findings show their findings on the release that the page names."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "examples" / "findings"
TRIES = 4
SECONDS = 900


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)


@pytest.mark.long
@pytest.mark.kafka
def test_a_forwarded_request_is_executed_twice():
    for seed in range(TRIES):
        done = run("forwarded_creates.py", "--rounds", "8", "--seed", str(seed))
        assert done.returncode in {0, 1}, done.stderr
        if done.returncode:
            break
    assert done.returncode == 1, done.stdout
    twice = done.stdout.count("  executed twice: ")
    assert twice == done.stdout.count("  log: offset ") > 0


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.parametrize(("linger_ms", "is_repeated"), [("6000", True), ("25", False)])
def test_slow_commits_repeat_the_registration_of_a_broker(linger_ms, is_repeated):
    done = run("repeated_registrations.py", "--linger-ms", linger_ms)
    assert done.returncode in {0, 1}, done.stderr
    assert "log of controller 1: " in done.stdout
    assert (done.returncode == 1) == is_repeated, done.stdout
