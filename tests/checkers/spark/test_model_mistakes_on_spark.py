"""A model that crashes on Spark: named in one line, with the traceback in the run's directory."""

import shutil

import pytest

from kraftproof.checkers.verdict import NO_OPERATIONS
from kraftproof.report.analysis import read_analysis
from tests.support.command import KRAFTPROOF, run
from tests.support.long_cases import long
from tests.support.plugins import install

pytestmark = pytest.mark.spark

MODELS = {
    "step": "def step(self, state, call): raise IndexError('no such state')",
    "key": "def key(self, operation): raise IndexError('no such state')",
    "validate": "def validate(self, operation): raise ValueError('no such state')",
}


@pytest.fixture(params=["step", long("key"), long("validate")])
def crashed(request, tmp_path):
    """The directories of two runs whose model is a plug-in with a mistake, and the environment."""
    package = f"plugins_spark_{request.param}"
    install(tmp_path / "site", package, {"model": MODELS[request.param]})
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    store = tmp_path / "store"
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "simulated", "--engine", "inline", "--nodes", "1+1"),
        *(
            "--system",
            package,
            "--workload",
            package,
            "--nemesis",
            "none",
            "--time-limit",
            "5",
            "--store",
            store,
        ),
        environment=environment,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    (directory,) = store.iterdir()
    (directory / "plugin-error.txt").unlink()
    shutil.copytree(directory, store / "second")
    return store, environment


@pytest.mark.long
def test_a_model_that_crashes_is_told_and_kept_as_inline(crashed, tmp_path):
    store, environment = crashed
    runs = sorted(store.iterdir())
    inline, spark = (
        run(KRAFTPROOF, "check", "--engine", engine, *runs, environment=environment, timeout=1_200)
        for engine in ("inline", "spark")
    )
    told = [line for line in inline.stdout.splitlines() if "no such state" in line]
    assert told
    assert [line for line in spark.stdout.splitlines() if "no such state" in line] == told
    assert inline.returncode == spark.returncode == 2, spark.stdout + spark.stderr
    out = tmp_path / "analysis"
    words = ("analyze", store, "--master", "local[2]", "--out", out)
    done = run(KRAFTPROOF, *words, environment=environment, timeout=1_200)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("unknown  2 unknown of 2 runs; ")
    rows = read_analysis(out).runs
    assert [(row["label"], row["verdict"]) for row in rows] == [(str(d), "unknown") for d in runs]
    assert all("no such state" in row["notes"] for row in rows)
    assert not any(NO_OPERATIONS in row["notes"] for row in rows)
    for directory in runs:
        kept = directory / "plugin-error.txt"
        said = (done.stdout + done.stderr).splitlines()
        (line,) = [line for line in said if line.endswith(f"(traceback: {kept})")]
        assert "Error: no such state" in line or "can't judge the run" in line
        assert "site/plugins_spark_" in line or "can't judge the run" in line
        text = kept.read_text()
        assert text.startswith("Traceback (most recent call last)")
        assert "no such state" in text
        assert "/model.py" in text
