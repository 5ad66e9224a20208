"""Power loss in containers: a node that does not sync is found, and the clean node is valid."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof.checkers.history.tables import read_table
from kraftproof.cluster.remote.disk import mounts
from tests.support.long_cases import long

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root"),
]

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 240


def run(store: Path, *options: str, seconds: int) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Return a finished run under power losses, and its directory."""
    command = [sys.executable, "-m", "kraftproof", "test", "--backend", "docker"]
    command += ["--workload", "topics", "--nemesis", "lose-unsynced", "--nodes", "3+1"]
    command += ["--time-limit", str(seconds), "--engine", "inline"]
    done = subprocess.run(
        [*command, *options, "--store", str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    (directory,) = store.iterdir()
    return done, directory


def faults(directory: Path, phase: str) -> list[dict[str, object]]:
    lines = (directory / "faults.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["phase"] == phase]


@pytest.mark.parametrize("mutant", ["no_fsync", long("late_fsync")])
def test_a_node_that_acknowledges_what_is_not_synced_is_found(mutant: str, tmp_path: Path):
    path = str(ROOT / "tests" / "support" / f"{mutant}.py")
    done, directory = run(tmp_path, "--seed", "5", "--mutant", path, seconds=7)
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    sentences = [
        finding["sentence"]
        for finding in read_table(directory / "tables", "findings").to_pylist()
        if finding["check"] == "kraft/acknowledged-is-durable"
    ]
    said = re.compile(
        r"topic topic-\d+ .* was acknowledged at \d+\.\d+ s "
        r"when [01] of 3 voters had synced its record, .*node \d lost the record with its power at "
    )
    assert any(map(said.search, sentences)), done.stderr


@pytest.mark.long
def test_the_clean_node_loses_nothing_with_its_power(tmp_path: Path):
    done, directory = run(tmp_path, "--seed", "3", seconds=25)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.strip().splitlines()[-1].startswith("valid")
    assert len(faults(directory, "bitten")) >= 2
    reports = sorted(directory.glob("nodes/*/disk.jsonl"))
    assert len(reports) == 4
    events = [json.loads(line) for path in reports for line in path.read_text().splitlines()]
    assert {"synced", "lost", "unmounted"} <= {event["event"] for event in events}
    lost = {
        write["file"] for event in events if event["event"] == "lost" for write in event["writes"]
    }
    assert lost, "brokers do not sync what they fetch, and lose it"
    assert not [name for name, _ in mounts.mounted() if name.startswith(str(directory))]
