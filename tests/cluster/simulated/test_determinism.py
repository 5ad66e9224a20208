"""One seed, one run: the same bytes under any hash seed and allocator."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.long_cases import long

pytestmark = pytest.mark.simulation

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENTS = (
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "2", "PYTHONMALLOC": "malloc"},
    {"PYTHONHASHSEED": "4711"},
)
NODE_TABLES = ("records", "snapshots", "trace", "operations", "faults")


def python(*arguments, environment):
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def fingerprint(run):
    """The hash of each file of a run that says what happened, by its name."""
    files = [run / "history.jsonl", run / "faults.jsonl", *sorted((run / "nodes").rglob("*"))]
    hashes = {
        str(path.relative_to(run)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }
    for name in NODE_TABLES:
        rows = pq.read_table(run / "tables" / f"{name}.parquet").to_pylist()
        hashes[name] = hashlib.sha256(repr(rows).encode()).hexdigest()
    return hashes


@pytest.mark.parametrize(
    ("workload", "nemeses", "seed"),
    [
        ("topics", "kill,partition,pause,clock", 4),
        long("registration", "lose-unsynced,kill-all,restart,partition", 9),
        long("topics", "loss,reset,stall,disk-error,wipe,drift,clock-strobe", 5),
    ],
)
def test_a_run_is_the_same_bytes_everywhere(tmp_path, workload, nemeses, seed):
    found = []
    for number, environment in enumerate(ENVIRONMENTS):
        store = tmp_path / str(number)
        done = python(
            *("kraftproof", "test", "--backend", "simulated", "--engine", "inline"),
            *("--workload", workload, "--nemesis", nemeses, "--seed", seed),
            *("--time-limit", "4", "--rate", "40", "--store", store),
            environment=environment,
        )
        assert done.returncode in {0, 2}, done.stdout + done.stderr
        (run,) = store.iterdir()
        found.append(fingerprint(run))
    assert len(found[0]) > 20, "three controllers and three brokers leave more files"
    assert found[0] == found[1] == found[2]


def test_chaos_is_the_same_everywhere_and_another_seed_is_another_run():
    outputs = [
        python("tests.cluster.simulated.chaos", 11, "--seconds", 3, environment=environment).stdout
        for environment in ENVIRONMENTS
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    first = json.loads(outputs[0])
    assert first["violations"] == []
    assert first["ok"] > 0
    other = python("tests.cluster.simulated.chaos", 12, "--seconds", 3, environment=ENVIRONMENTS[0])
    assert json.loads(other.stdout)["digest"] != first["digest"]
