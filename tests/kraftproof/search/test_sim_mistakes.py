"""What spoils a seed of `kraftproof sim` and is no violation: named with the seed's number."""

import json

import pytest

from kraftproof import cli
from kraftproof.checkers.models import models
from tests.support.long_cases import long
from tests.support.plugins import install

SCHEDULE = """kraftproof schedule 1
seed 7
nodes 1+1
workload PACKAGE
rate 5
concurrency 2
time-limit 5
"""


@pytest.fixture
def replay(monkeypatch, tmp_path, capsys):
    """Runs `kraftproof sim --schedule` with a workload whose `run` is replaced."""

    def run(package, method):
        install(tmp_path / "site", package, {"workload": method})
        monkeypatch.syspath_prepend(tmp_path / "site")
        models.cache_clear()
        path = tmp_path / "schedule.txt"
        path.write_text(SCHEDULE.replace("PACKAGE", package))
        store = str(tmp_path / "store")
        status = cli.run(["sim", "--schedule", str(path), "--store", store, "--json"])
        return status, *capsys.readouterr()

    yield run
    models.cache_clear()


def test_a_mistake_in_a_plugin_is_named_with_the_seed(replay, tmp_path):
    mistake = "async def run(self, session): raise LookupError('no pool')"
    status, out, err = replay("plugins_of_sim", mistake)
    assert status == 2, out + err
    (line,) = [line for line in out.splitlines() if line.startswith("seed 7: workload ")]
    assert "run raised LookupError: no pool (traceback: plugin-error.txt)" in line
    last = json.loads(out.splitlines()[-1])
    (unjudged,) = last["unjudged"]
    assert (unjudged["seed"], last["unknown"]) == (7, 1)
    assert "LookupError: no pool" in unjudged["why"][0]
    (directory,) = (tmp_path / "store").iterdir()
    assert unjudged["directory"] == str(directory)
    assert "no pool" in (directory / "plugin-error.txt").read_text()


@pytest.mark.parametrize(
    "place", ["kraftproof.search.seeds.execute", long("kraftproof.run.runner.judge_run")]
)
def test_a_crash_of_our_own_names_the_seed(monkeypatch, tmp_path, capsys, place):
    def crash(*_, **__):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(place, crash)
    status = cli.run(["sim", "--seed", "11", "--store", str(tmp_path)])
    err = capsys.readouterr().err
    assert status == 70, err
    assert err.splitlines()[-1].startswith("kraftproof: seed 11: this is a mistake in Kraftproof")


def test_a_crash_of_our_own_inside_a_run_names_the_seed(monkeypatch, tmp_path, capsys):
    def crash(*_, **__):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("kraftproof.run.attempt.Interpreter.run", crash)
    status = cli.run(["sim", "--seed", "11", "--store", str(tmp_path)])
    out, err = capsys.readouterr()
    assert status == 70, out + err
    ours = "seed 11: this is a mistake in Kraftproof itself"
    (line,) = [line for line in out.splitlines() if line.startswith(ours)]
    assert "ZeroDivisionError: ours (traceback: crash.txt)" in line
