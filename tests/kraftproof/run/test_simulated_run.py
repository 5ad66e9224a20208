"""Whole runs in simulation: one seed, one run, byte for byte; a bug is found and named."""

import hashlib
import json
import subprocess

import pytest

from tests.support.command import KRAFTPROOF, begin, run
from tests.support.long_cases import long

pytestmark = pytest.mark.simulation

RUN = (
    *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "3+1"),
    *("--rate", "20", "--time-limit", "6"),
)


def digest(run):
    files = [run / "history.jsonl", run / "faults.jsonl", *sorted(run.glob("nodes/**/*"))]
    whole = hashlib.sha256()
    for path in files:
        if path.is_file():
            whole.update(str(path.relative_to(run)).encode() + path.read_bytes())
    return whole.hexdigest()


@pytest.mark.parametrize("workload", ["topics", long("registration")])
def test_one_seed_is_one_run_under_any_hash_seed_and_allocator(tmp_path, workload):
    environments = [
        {"PYTHONHASHSEED": "1", "PYTHONMALLOC": "pymalloc"},
        {"PYTHONHASHSEED": "77", "PYTHONMALLOC": "malloc"},
    ]
    runs = {}
    for number, environment in enumerate(environments):
        store = tmp_path / str(number)
        arguments = (*RUN, "--nemesis", "kill,partition", "--workload", workload, "--store", store)
        runs[store] = begin(
            *arguments, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    digests = set()
    for store, process in runs.items():
        out, _ = process.communicate(timeout=120)
        assert process.returncode in {0, 2}, out
        (run,) = store.iterdir()
        digests.add(digest(run))
    assert len(digests) == 1


def test_a_run_leaves_tables_and_reports(tmp_path):
    done = run(KRAFTPROOF, *RUN, "--nemesis", "none", "--json", "--store", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    (directory,) = tmp_path.iterdir()
    assert result["verdict"] == "valid"
    assert {path.name for path in directory.iterdir()} >= {
        "faults.jsonl",
        "history.jsonl",
        "junit.xml",
        "nodes",
        "report.html",
        "run.json",
        "tables",
    }
    assert (directory / "tables" / "records.parquet").stat().st_size > 1000
    page = (directory / "report.html").read_text()
    assert ">valid</h1>" in page
    assert "http://" not in page
    assert "https://" not in page


def test_sim_finds_a_planted_bug_and_names_the_property(tmp_path):
    arguments = ("sim", "--seeds", "0:12", "--mutant", "A27", "--json", "--store", tmp_path)
    done = run(KRAFTPROOF, *arguments)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1, done.stdout + done.stderr
    (violation,) = summary["violations"]
    assert violation["why"]
    assert summary["events"] > 0
    assert summary["cpu_seconds"] > 0
