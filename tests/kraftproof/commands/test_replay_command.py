"""`kraftproof replay`: the run again, on the same ground or another, and how often it fails."""

import json

import pytest

from tests.support.command import KRAFTPROOF, call, one_line, run

FAILING = ("--backend", "simulated", "--seed", "3", "--time-limit", "10", "--mutant", "A1")


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """The directory of a run in which a planted bug is found."""
    store = tmp_path_factory.mktemp("store")
    assert run(KRAFTPROOF, "test", *FAILING, "--store", store).returncode == 1
    [directory] = store.iterdir()
    return directory


@pytest.mark.simulation
def test_the_same_finding_comes_back(failed, tmp_path):
    done = run(KRAFTPROOF, "replay", failed, "--times", "2", "--store", tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1 of 2  invalid  AcknowledgedIsFlushed; ")
    assert lines[-1] == "invalid  the same finding in 2 of 2 runs"
    first, second = sorted(path / "run.json" for path in tmp_path.iterdir())
    recorded, again, next_one = (
        json.loads(path.read_text()) for path in (failed / "run.json", first, second)
    )
    assert again["schedule"] == recorded["schedule"] == next_one["schedule"] != []
    assert [one["options"]["seed"] for one in (recorded, again, next_one)] == [3, 3, 4]


@pytest.mark.long
def test_a_mended_system_does_not_show_the_finding(failed, tmp_path):
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("run.json", "history.jsonl", "faults.jsonl", "outcome.json"):
        (copy / name).write_bytes((failed / name).read_bytes())
    told = json.loads((copy / "run.json").read_text())
    told["options"] |= {"mutant": None, "min_bites": 0, "time_limit_s": 12}
    (copy / "run.json").write_text(json.dumps(told))
    done = run(KRAFTPROOF, "replay", copy, "--times", "1", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["findings"] == ["AcknowledgedIsFlushed"]
    assert (result["same"], result["invalid"], result["times"]) == (0, 0, 1)
    assert result["runs"][0]["verdict"] == "valid"


@pytest.mark.simulation
def test_what_can_not_be_replayed_is_one_line(failed, tmp_path):
    assert one_line(call("replay", tmp_path), 3) == (
        f"kraftproof: {tmp_path}: not a run directory, no readable run.json"
    )
    line = one_line(call("replay", failed, "--on", "mainframe"), 3)
    assert "mainframe" in line
