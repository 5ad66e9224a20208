"""Paths that hold no history, or none that may be read: a line each, and the others are checked."""

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from kraftproof.errors import UsageError
from tests.checkers.history.read.test_bad_input import INVALID, VALID, run

AS_ONE_WHO_MAY_NOT: Final = (
    ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
)
"""Root may read everything, unless it gives that up."""


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("/dev/null", ": neither a file nor a folder"),
        ("a" * 5000, ": can't be read: File name too long"),
        ("loop", ": can't be read: Too many levels of symbolic links"),
        ("file/within", ": no such file or directory"),
        ("empty.jsonl.gz", ": can't be read: an archive without a byte"),
        ("two\nlines.jsonl", ":1: not a JSON event: Input data was truncated"),
    ],
)
def test_a_path_that_holds_no_history_is_named_and_the_others_are_checked(tmp_path, name, wanted):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "empty.jsonl.gz").touch()
    (tmp_path / "two\nlines.jsonl").write_text("{")
    result = run(tmp_path / name, VALID, "--json")
    assert (result.exit_code, result.stdout.count('"valid"')) == (3, 1)
    shown = str(tmp_path / name).replace("\n", "\\n")
    told = result.stderr
    assert told.startswith(f"kraftproof check: {shown[:100]}")
    if len(shown) < 220:
        assert told.endswith(f"{shown}{wanted}\n")
    else:  # a long name is cut
        assert told.endswith(f" characters){wanted.removeprefix(':')}\n")
    assert len(told) < 1100


@pytest.mark.parametrize("name", ["faults.jsonl", "run.json"])
def test_a_run_with_a_folder_for_a_file_is_named_and_the_others_are_checked(tmp_path, name):
    run_directory = tmp_path / "run"
    (run_directory / name).mkdir(parents=True)
    if name != "run.json":
        described = {"workload": {"name": "register", "model": "cas-register"}}
        (run_directory / "run.json").write_text(json.dumps(described))
    (run_directory / "history.jsonl").write_bytes(INVALID.read_bytes())
    result = run(tmp_path, VALID, "--json")
    assert (result.exit_code, result.stdout.count('"valid"')) == (3, 1)
    wanted = f"{run_directory / name}: can't be read: Is a directory"
    assert result.stderr == f"kraftproof check: {wanted}\n"


def test_an_explanation_that_can_not_be_written_keeps_no_history_from_being_checked(tmp_path):
    taken = tmp_path / f"1-{INVALID.stem}-0.html"
    taken.mkdir()
    result = run(INVALID, INVALID, VALID, "--json", "--explain", tmp_path)
    assert result.exit_code == 3
    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert verdicts == ["invalid", "invalid", "valid"]
    assert f"kraftproof check: {taken}: can't be written to: Is a directory\n" in result.stderr


def test_a_file_in_place_of_a_folder_for_explanations_is_refused_before_the_check(tmp_path):
    (tmp_path / "file").touch()
    result = run(INVALID, "--json", "--explain", tmp_path / "file")
    assert isinstance(result.exception, UsageError)
    assert (result.stdout, str(result.exception)) == (
        "",
        f"--explain {tmp_path / 'file'}: {tmp_path / 'file'} is not a directory",
    )


def test_names_that_are_no_utf_8_are_named_and_the_others_are_checked(tmp_path):
    odd = tmp_path / os.fsdecode(b"\xff.jsonl")
    odd.write_bytes(VALID.read_bytes())
    result = run(tmp_path, VALID, "--json")
    assert (result.exit_code, result.stdout.count('"valid"')) == (3, 1)
    assert result.stderr == f"kraftproof check: {tmp_path}/\\xff.jsonl: a name that is no UTF-8\n"


def test_what_may_not_be_read_is_named_and_the_others_are_checked(tmp_path):
    (tmp_path / "closed").mkdir()
    for name in ("a.jsonl", "b.parquet", "c.jsonl.gz", "z.jsonl"):
        (tmp_path / name).write_bytes(VALID.read_bytes())
        (tmp_path / name).chmod(0o644 if name == "z.jsonl" else 0)
    (tmp_path / "closed").chmod(0)
    result = subprocess.run(
        [
            *(*AS_ONE_WHO_MAY_NOT, sys.executable, "-m", "kraftproof", "check"),
            *("--engine", "inline", "--json", tmp_path, tmp_path / "closed"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout.count('"valid"')) == (3, 1), result.stderr
    named = [
        line.removeprefix(f"kraftproof check: {tmp_path}/") for line in result.stderr.splitlines()
    ]
    assert [line.partition(":")[0] for line in named] == [
        *("a.jsonl", "b.parquet", "c.jsonl.gz", "closed/run.json", "closed"),
    ]
    assert all("Permission denied" in line for line in named)
