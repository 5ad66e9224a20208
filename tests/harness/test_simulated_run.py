"""Whole runs in simulation: one seed, one run, byte for byte; a bug is found and named."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.simulation

RUN = ("--backend", "simulated", "--engine", "inline", "--time-limit", "12", "--nemesis")


def kraftproof(arguments, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "kraftproof", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def digest(run):
    files = [run / "history.jsonl", run / "faults.jsonl", *sorted(run.glob("nodes/**/*"))]
    whole = hashlib.sha256()
    for path in files:
        if path.is_file():
            whole.update(str(path.relative_to(run)).encode() + path.read_bytes())
    return whole.hexdigest()


@pytest.mark.parametrize("workload", ["topics", "registration"])
def test_one_seed_is_one_run_under_any_hash_seed_and_allocator(tmp_path, workload):
    digests = set()
    for number, environment in enumerate(
        [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "77", "PYTHONMALLOC": "malloc"}]
    ):
        store = tmp_path / str(number)
        done = kraftproof(
            ["test", *RUN, "kill,partition", "--workload", workload, "--store", str(store)],
            environment,
        )
        assert done.returncode in {0, 1, 2}, done.stdout + done.stderr
        (run,) = store.iterdir()
        digests.add(digest(run))
    assert len(digests) == 1


def test_a_run_leaves_tables_and_reports(tmp_path):
    done = kraftproof(
        ["test", *RUN, "none", "--time-limit", "8", "--json", "--store", str(tmp_path)]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    (run,) = tmp_path.iterdir()
    assert result["verdict"] == "valid"
    assert {path.name for path in run.iterdir()} >= {
        "faults.jsonl",
        "history.jsonl",
        "junit.xml",
        "nodes",
        "report.html",
        "run.json",
        "tables",
    }
    assert (run / "tables" / "records.parquet").stat().st_size > 1000
    page = (run / "report.html").read_text()
    assert ">valid</h1>" in page
    assert "http://" not in page
    assert "https://" not in page


def test_sim_finds_a_planted_bug_and_names_the_property(tmp_path):
    arguments = ["sim", "--seeds", "0:12", "--mutant", "A27", "--json", "--store", str(tmp_path)]
    done = kraftproof(arguments)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1, done.stdout + done.stderr
    (violation,) = summary["violations"]
    assert violation["why"]
    assert summary["events"] > 0
    assert summary["cpu_seconds"] > 0
