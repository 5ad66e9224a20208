"""Runs of `kraftproof test --system apache-kafka` on processes of this machine."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kraftproof.cli import app

pytestmark = pytest.mark.kafka
SECONDS = "12"


def run(store: Path, *arguments: str) -> dict[str, object]:
    """Do a run, and return its result."""
    common = ("test", "--system", "apache-kafka", "--store", str(store), "--json")
    done = CliRunner().invoke(app, [*common, "--time-limit", SECONDS, *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    found: dict[str, object] = json.loads(done.output.splitlines()[-1])
    return found


def test_a_run_under_kill_and_pause_is_valid(jars: Path, tmp_path: Path) -> None:
    del jars  # fetched before the time of the run begins
    result = run(tmp_path, "--nemesis", "kill,pause", "--fault-every", "4", "--min-bites", "1")
    assert result["verdict"] == "valid", result
