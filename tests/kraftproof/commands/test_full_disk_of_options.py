"""A disk that is full refuses the files that options name: one line, exit code 3, nothing left."""

import subprocess

import pytest

from tests.cluster.local.test_full_disk import may_mount
from tests.support.command import KRAFTPROOF, call, run
from tests.support.long_cases import long


@pytest.fixture
def full_disk(tmp_path):
    """A file system with room for names, and for hardly any data; it is gone after the test."""
    if not may_mount():
        pytest.skip("mounting a small file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "kraftproof", disk], check=True)
    page = 4096
    (disk / "filler").write_bytes(b"x" * (64 * 1024 - page))
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=False)


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """A folder with an invalid history whose picture has more than a page."""
    folder = tmp_path_factory.mktemp("histories")
    options = ("--operations", "400", "--keys", "4", "--corrupt", "stale-read")
    made = call("generate", *options, "--out", folder / "h.jsonl")
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def violation(tmp_path_factory):
    """The schedule file of a run that violates an invariant."""
    store = tmp_path_factory.mktemp("store")
    options = ("--mutant", "A18", "--time-limit", "12", "--store", store)
    done = run(KRAFTPROOF, "sim", "--seeds", "0:20", *options, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    return next(store.glob("sim-seed*/schedule.txt"))


LONG = {"generate --out h.jsonl.gz", "mutants --scoreboard", "shrink --out"}
"""Commands that `make test` leaves to `make test-long`."""
SIM = ("--time-limit", "4", "--store", "STORE")
COMMANDS = {
    "generate --out h.jsonl": ("generate", "--operations", "2000", "--out", "DISK/h.jsonl"),
    "generate --out h.jsonl.gz": ("generate", "--operations", "9000", "--out", "DISK/h.jsonl.gz"),
    "generate --out h.parquet": ("generate", "--operations", "9000", "--out", "DISK/h.parquet"),
    "explain --html": ("explain", "HISTORIES/h.jsonl", "--html", "DISK/why.html"),
    "check --explain": ("check", "--explain", "DISK/folder", "HISTORIES/h.jsonl"),
    "sim --coverage": ("sim", "--seeds", "0:2", "--coverage", "DISK/covered.txt", *SIM),
    "mutants --scoreboard": (
        *("mutants", "clean", "--seeds", "0:1", "--repeat", "1"),
        *("--scoreboard", "DISK/board.md"),
    ),
    "shrink --out": ("shrink", "SCHEDULE", "--store", "STORE", "--out", "DISK/small.txt"),
}


@pytest.mark.parametrize(
    "command",
    [long(words) if name in LONG else words for name, words in COMMANDS.items()],
    ids=COMMANDS.keys(),
)
def test_a_full_disk_is_one_line_that_names_the_path(
    full_disk, histories, tmp_path, request, command
):
    places = {
        "DISK": full_disk,
        "HISTORIES": histories,
        "STORE": tmp_path / "store",
    }
    if "SCHEDULE" in command:
        places["SCHEDULE"] = request.getfixturevalue("violation")
    if command[0] in {"mutants", "shrink", "sim"}:  # a small file: no room is left at all
        (full_disk / "more").write_bytes(b"x" * 4096)
    words = []
    for word in command:
        first, slash, rest = word.partition("/")
        words.append(f"{places[first]}{slash}{rest}" if first in places else word)
    named = next(word for word in words if word.startswith(str(full_disk)))
    # A mutant, and so the schedule of one, is run in a process of its own.
    done = run(KRAFTPROOF, *words) if command[0] == "shrink" else call(*words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "No space left on device" in line]
    assert line.startswith("kraftproof")
    assert named in line
    files = {path.name for path in full_disk.rglob("*") if path.is_file()}
    assert files <= {"filler", "more"}


@pytest.mark.spark
@pytest.mark.parametrize("is_staged", [long(False), long(True)])
def test_an_analysis_on_a_full_disk_is_one_line(full_disk, histories, is_staged):
    if is_staged:  # the histories fit, the tables of the analysis do not
        (full_disk / "filler").unlink()
    out = full_disk / "analysis"
    done = run(KRAFTPROOF, "analyze", histories, "--master", "local[2]", "--out", out, timeout=200)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("kraftproof")]
    assert f": {out}" in line
    assert "No space left on device" in line
    assert {path.name for path in out.rglob("*") if path.is_file()} <= {"analysis.json"}
