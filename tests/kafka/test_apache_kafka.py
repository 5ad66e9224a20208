"""Runs of `kraftproof test --system apache-kafka` on processes of this machine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.kafka
SECONDS = "12"
LONGEST_S = 200


def run(store: Path, *arguments: str) -> dict[str, Any]:
    """Do a run, and return its result."""
    command = (sys.executable, "-m", "kraftproof", "test", "--json", "--store", str(store))
    done = subprocess.run(
        [*command, "--time-limit", SECONDS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_run_under_kill_and_pause_is_valid(jars: Path, tmp_path: Path) -> None:
    del jars  # they are there before the run begins
    faults = ("--nemesis", "kill,pause", "--fault-every", "3", "--min-bites", "1")
    result = run(tmp_path, "--system", "apache-kafka", *faults)
    assert result["verdict"] == "valid", result
