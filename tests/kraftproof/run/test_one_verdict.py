"""One run has one verdict, whoever asks for it, and however often the run is judged again."""

import json
import shutil
from xml.etree import ElementTree

import pytest

from kraftproof.checkers import check_run
from tests.support.command import KRAFTPROOF, run

pytestmark = pytest.mark.simulation

REASON = "kill: 1 fault has bitten, at least 2 are needed"


@pytest.fixture(scope="module")
def vacuous(tmp_path_factory):
    """What `test` says of a run in which too few faults had an effect, and its directory."""
    store = tmp_path_factory.mktemp("vacuous")
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "simulated", "--engine", "inline", "--nemesis", "kill"),
        *("--nodes", "3+1", "--time-limit", "8", "--rate", "10", "--seed", "5", "--json"),
        *("--store", store),
    )
    (directory,) = store.iterdir()
    return done, directory


def test_a_run_with_too_few_faults_is_unknown_for_test_check_and_explain(vacuous):
    done, directory = vacuous
    told = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, told["verdict"], told["why"]) == (2, "unknown", [REASON])
    for command in (("check", "--engine", "inline"), ("explain",)):
        again = run(KRAFTPROOF, *command, directory)
        assert again.returncode == 2, again.stdout + again.stderr
        assert again.stdout.startswith("unknown ")
        assert REASON in again.stdout


def test_its_report_and_its_junit_say_so(vacuous):
    _, directory = vacuous
    assert ">unknown</h1>" in (directory / "report.html").read_text()
    suite = ElementTree.parse(directory / "junit.xml").getroot()
    (error,) = suite.iter("error")
    assert error.get("message") == f"unknown: {REASON}"


def test_a_run_that_never_ended_is_unknown_whatever_its_history_says(healthy_run, tmp_path):
    assert check_run(healthy_run, "inline", write_tables=False).verdict == "valid"
    directory = tmp_path / "run"
    shutil.copytree(healthy_run, directory)
    (directory / "outcome.json").unlink()
    (reason,) = check_run(directory, "inline", write_tables=False).why
    assert reason.startswith("the run has no outcome.json: its harness")


def test_an_outcome_that_can_not_be_read_is_one_line(healthy_run, tmp_path):
    directory = tmp_path / "run"
    shutil.copytree(healthy_run, directory)
    for text, wanted in (('{"mishaps": 3}', "Expected `array`"), ("{", "truncated")):
        (directory / "outcome.json").write_text(text)
        done = run(KRAFTPROOF, "check", "--engine", "inline", directory)
        assert done.returncode == 3
        assert f"{directory}/outcome.json: " in done.stderr
        assert wanted in done.stderr
        assert done.stderr.count("\n") == 1
