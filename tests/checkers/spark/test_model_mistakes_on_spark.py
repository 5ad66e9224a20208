"""A model that crashes on Spark: named in one line, with the traceback in the run's directory."""

import shutil

import pytest

from tests.support.command import run_in_one_process
from tests.support.plugins import install

pytestmark = pytest.mark.spark

MODELS = {
    "step": "def step(self, state, call): raise IndexError('no such state')",
    "key": "def key(self, operation): raise IndexError('no such state')",
    "validate": "def validate(self, operation): raise ValueError('no such state')",
}


@pytest.fixture
def crashed(tmp_path):
    """A store with two runs for each mistake, whose models are plug-ins, and the environment."""
    packages = [f"plugins_spark_{name}" for name in MODELS]
    for package, mistake in zip(packages, MODELS.values(), strict=True):
        install(tmp_path / "site", package, {"model": mistake})
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    store = tmp_path / "store"
    options = ("--backend", "simulated", "--engine", "inline", "--nodes", "1+1")
    options += ("--nemesis", "", "--time-limit", "5")
    for done in run_in_one_process(
        *(
            ("test", *options, "--system", package, "--workload", package, "--store", store)
            for package in packages
        ),
        environment=environment,
        timeout=200,
    ):
        assert done.returncode == 2, done.stdout + done.stderr
    directories = sorted(store.iterdir())
    assert len(directories) == len(MODELS)
    for directory in directories:
        (directory / "plugin-error.txt").unlink()
        shutil.copytree(directory, store / f"{directory.name}-second")
    return store, environment


def test_a_model_that_crashes_is_told_and_kept_as_inline(crashed, tmp_path):
    store, environment = crashed
    runs = sorted(store.iterdir())
    out = tmp_path / "analysis"
    inline, spark, done = run_in_one_process(
        *(("check", "--engine", engine, *runs) for engine in ("inline", "spark")),
        ("analyze", store, "--master", "local[2]", "--out", out),
        environment=environment,
        timeout=280,
    )
    told = [line for line in inline.stdout.splitlines() if "no such state" in line]
    assert len(told) >= len(runs)
    assert [line for line in spark.stdout.splitlines() if "no such state" in line] == told
    assert inline.returncode == spark.returncode == 2, spark.stdout + spark.stderr
    assert done.returncode in {2, 3}, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
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
