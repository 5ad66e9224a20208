"""A run whose history has lost events is unknown: neither valid nor a finding of the system."""

import json
import shutil

import pytest

from kraftproof.checkers import check_run
from tests.support.command import call

pytestmark = pytest.mark.simulation


@pytest.fixture
def directory(healthy_run, tmp_path):
    return shutil.copytree(healthy_run, tmp_path / "run")


def lines_of(directory):
    return (directory / "history.jsonl").read_bytes().splitlines(keepends=True)


def without_an_operation(lines):
    """Loses both events of an operation in the middle."""
    events = [json.loads(line) for line in lines]
    middle = len(events) // 2
    begun = next(n for n in range(middle, len(events)) if events[n]["type"] == "invoke")
    process = events[begun]["process"]
    ended = next(n for n in range(begun + 1, len(events)) if events[n]["process"] == process)
    return [line for n, line in enumerate(lines) if n not in {begun, ended}]


LOSSES = {
    "all": lambda lines: [],
    "second half": lambda lines: lines[: len(lines) // 2],
    "last line": lambda lines: lines[:-1],
    "an operation": without_an_operation,
}


def test_a_run_counts_its_events(directory):
    told = json.loads((directory / "outcome.json").read_text())
    assert told["events"] == len(lines_of(directory))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_damaged_history_is_unknown(loss, directory):
    whole = lines_of(directory)
    left = LOSSES[loss](whole)
    (directory / "history.jsonl").write_bytes(b"".join(left))
    verdict = check_run(directory, "inline", write_tables=False)
    assert verdict.verdict == "unknown"
    assert verdict.findings == ()
    assert verdict.doubts == (
        f"the history is damaged: it has {len(left)} events, and the run recorded {len(whole)} "
        "(outcome.json), so no finding counts",
    )


def test_a_key_of_a_damaged_history_is_not_explained(directory):
    lines = [json.loads(line) for line in lines_of(directory)]
    key = lines[0]["key"]
    (directory / "history.jsonl").write_bytes(b"".join(lines_of(directory)[:-1]))
    done = call("explain", directory, "--key", key)
    assert (done.returncode, done.stderr) == (2, "")
    assert "the history is damaged" in done.stdout


def test_the_table_of_operations_stands_in_for_a_lost_history(directory):
    (directory / "history.jsonl").unlink()
    assert check_run(directory, "inline", write_tables=False).verdict == "valid"


def test_a_run_of_an_older_version_has_no_count(directory):
    told = json.loads((directory / "outcome.json").read_text())
    del told["events"]
    (directory / "outcome.json").write_text(json.dumps(told))
    (directory / "history.jsonl").write_bytes(b"".join(lines_of(directory)[:-2]))
    assert "damaged" not in str(check_run(directory, "inline", write_tables=False).doubts)
