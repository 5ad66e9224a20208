"""The benchmark runs on real processes and says what it measured (595-78)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.interpreter import measure


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.requirement("595-78")
def test_three_nodes_under_load_are_measured(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    options = ["--backend", "local", "--topics", "20", "--failovers", "1", "--json", str(report)]
    done = subprocess.run(
        [sys.executable, "-m", "bench.cluster", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(report.read_text())
    assert figures["nodes"] == "3+3"
    assert figures["in_series_per_s"] > 1
    assert figures["in_flight_per_s"] > 1
    assert 0 < figures["failover_median_s"] < 30
    assert "createTopics RF 3, in series" in done.stdout


def test_the_harness_alone_is_measured_in_operations_a_second_of_cpu():
    assert measure(seconds=0.1, seed=0) > 1_000
