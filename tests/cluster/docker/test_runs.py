"""Whole runs on containers, from the command line to the verdict: each workload under a fault."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.long_cases import long

pytestmark = [pytest.mark.docker, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 150


@pytest.mark.parametrize(
    ("workload", "nemesis"), [long("topics", "partition"), ("registration", "clock")]
)
def test_the_clean_node_keeps_its_promises(workload: str, nemesis: str, tmp_path: Path):
    options = ["--backend", "docker", "--workload", workload, "--nemesis", nemesis]
    options += ["--time-limit", "16", "--seed", "3", "--engine", "inline"]
    done = subprocess.run(
        [sys.executable, "-m", "kraftproof", "test", *options, "--store", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.strip().splitlines()[-1].startswith("valid")
    (run,) = tmp_path.iterdir()
    phases = [json.loads(line) for line in (run / "faults.jsonl").read_text().splitlines()]
    assert sum(one["phase"] == "bitten" and one["kind"] == nemesis for one in phases) >= 2
