"""A workload states what its system starts with; the run is judged by that, also later."""

import json
import shutil

import pytest

from kraftproof.checkers import check_run
from kraftproof.checkers.verdict import Verdict

EVENTS = [
    {"type": "invoke", "f": "read", "value": None},
    {"type": "ok", "f": "read", "value": 7},
]


@pytest.fixture
def run_directory(healthy_run, tmp_path):
    """A run of ours whose history is one read of 7, as of a register that starts so."""
    directory = shutil.copytree(healthy_run, tmp_path / "run")
    shutil.rmtree(directory / "tables")
    lines = [
        json.dumps({"index": index, "process": 0, "key": "k", "time": index * 10**9, **event})
        for index, event in enumerate(EVENTS)
    ]
    (directory / "history.jsonl").write_text("\n".join(lines) + "\n")
    outcome = json.loads((directory / "outcome.json").read_text())
    (directory / "outcome.json").write_text(json.dumps(outcome | {"events": len(EVENTS)}))
    return directory


def stated(directory, initial):
    path = directory / "run.json"
    run = json.loads(path.read_text())
    run["workload"] |= {"model": "cas-register", "initial": initial}
    path.write_text(json.dumps(run))
    return check_run(directory)


def test_what_a_workload_states_is_what_its_run_is_judged_by(run_directory):
    assert stated(run_directory, []).verdict is Verdict.INVALID
    assert stated(run_directory, ["3"]).verdict is Verdict.INVALID
    assert not stated(run_directory, ["7"]).findings
    assert not stated(run_directory, ["k=7"]).findings
    assert stated(run_directory, ["other=7"]).verdict is Verdict.INVALID


def test_run_json_has_what_the_workload_states(healthy_run):
    assert json.loads((healthy_run / "run.json").read_text())["workload"]["initial"] == []
