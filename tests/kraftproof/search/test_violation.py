"""What a violation gives: it replays byte for byte, is drawn, and shrinks to a small schedule."""

import json
import re
import shlex
import signal
import subprocess

import pytest

from tests.support.command import KRAFTPROOF, begin, run

pytestmark = pytest.mark.simulation

MUTANT = "A18"
LIMIT = ("--time-limit", "12")
TOLD = re.compile(r"^seed (\d+), event (\d+): (\w+)$", re.MULTILINE)


def without_times(out):
    """What was said, but for the CPU time that it took."""
    return re.sub(r" +[\d.]+ CPU-s.*", "", out)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A search that has found the planted bug, its store, and what it said."""
    store = tmp_path_factory.mktemp("found")
    done = run(
        KRAFTPROOF,
        *("sim", "--seeds", "0:20", "--mutant", MUTANT, *LIMIT, "--json", "--store", store),
        environment={"PYTHONHASHSEED": "1"},
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout, store


def event_of(line):
    """Return the words of a line of a diagram; the search draws no node without events."""
    return line.split("│")[-1].strip()


def violation_of(out):
    (one,) = json.loads(out.splitlines()[-1])["violations"]
    return one


def test_a_bare_search_names_no_directory_and_draws_nothing(found, tmp_path):
    seed = violation_of(found[0])["seed"]
    done = run(
        KRAFTPROOF,
        *("sim", "--seed", str(seed), "--mutant", MUTANT, *LIMIT, "--bare", "--store", tmp_path),
    )
    assert done.returncode == 1
    assert f"replay  kraftproof sim --seed {seed}" in done.stdout
    assert "kept    " not in done.stdout
    assert "\n\n\n" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_violation_says_seed_event_sentence_and_how_to_see_it_again(found):
    out, store = found
    one = violation_of(out)
    seed, event, reason = TOLD.search(out).groups()
    assert (int(seed), int(event)) == (one["seed"], one["event"])
    assert one["why"][0].startswith(f"{reason}: ")
    assert f"  {one['why'][0]}" in out.splitlines()
    assert f"replay  kraftproof sim --seed {seed} --mutant A18 --time-limit 12" in out
    assert f"shrink  kraftproof shrink {seed} --mutant A18 --time-limit 12" in out
    kept = store / f"sim-seed{seed}"
    assert {"diagram.txt", "schedule.txt", "report.html", "history.jsonl"} <= {
        path.name for path in kept.iterdir()
    }
    drawn = out[out.index("│ up") : out.rindex("\n{")].splitlines()
    assert 20 < len(drawn) < 80
    assert all(len(line) <= 140 for line in drawn)
    assert any("!" in line and f"{reason}: " in line for line in drawn)
    assert any("──▶" in line or "◀──" in line for line in drawn)
    assert event_of(drawn[-2]) in (kept / "diagram.txt").read_text()
    assert event_of(drawn[-2]) in (kept / "report.html").read_text().replace("&#39;", "'")


def test_the_printed_command_replays_it_byte_for_byte(found, tmp_path):
    """In another process, under another hash seed, with another allocator."""
    out, store = found
    seed = violation_of(out)["seed"]
    (command,) = re.findall(r"^replay  kraftproof (.*)$", out, re.MULTILINE)
    done = run(
        KRAFTPROOF,
        *(*shlex.split(command), "--json", "--store", tmp_path),
        environment={"PYTHONHASHSEED": "4711", "PYTHONMALLOC": "malloc"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    start = out.index(f"seed {seed}, event")
    theirs = without_times(out[start : out.rindex("\n{")]).replace(str(store), "STORE")
    again = done.stdout[done.stdout.index(f"seed {seed}, event") : done.stdout.rindex("\n{")]
    assert without_times(again).replace(str(tmp_path), "STORE") == theirs
    assert violation_of(done.stdout) == violation_of(out)
    for name in ("diagram.txt", "schedule.txt", "history.jsonl", "faults.jsonl"):
        first, second = (root / f"sim-seed{seed}" / name for root in (store, tmp_path))
        assert first.read_bytes() == second.read_bytes(), name


def test_explain_names_check_node_and_time_and_shows_the_diagram(found):
    """So does whoever judges the directory again; the invariant's name is a field."""
    out, store = found
    one = violation_of(out)
    kept = store / f"sim-seed{one['seed']}"
    reason = TOLD.search(out).group(3)
    done = run(KRAFTPROOF, "explain", kept)
    assert done.returncode == 1, done.stdout + done.stderr
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("invalid ")
    assert re.match(rf"  {reason}: node \d+: .* at \d+\.\d{{3}} s, ", second)
    drawn = out[out.index("│ up") : out.rindex("\n{")].splitlines()
    assert event_of(drawn[-2]) in done.stdout
    judged = run(KRAFTPROOF, "check", "--engine", "inline", "--json", kept)
    told = json.loads(judged.stdout)
    assert (judged.returncode, told["verdict"]) == (1, "invalid")
    assert told["findings"][0]["check"] == reason


def test_the_schedule_that_is_kept_is_the_whole_run(found, tmp_path):
    out, store = found
    kept = store / f"sim-seed{violation_of(out)['seed']}"
    done = run(
        KRAFTPROOF, "sim", "--schedule", kept / "schedule.txt", "--json", "--store", tmp_path
    )
    assert violation_of(done.stdout) == violation_of(out)
    for name in ("diagram.txt", "schedule.txt", "history.jsonl"):
        assert (tmp_path / "sim-schedule" / name).read_bytes() == (kept / name).read_bytes()


@pytest.mark.long
def test_it_shrinks_to_a_file_that_fails_for_the_same_reason(found, tmp_path):
    out, store = found
    kept = store / f"sim-seed{violation_of(out)['seed']}"
    small = tmp_path / "small.txt"
    done = run(
        KRAFTPROOF,
        *("shrink", kept, "--budget-s", "4", "--out", small, "--store", tmp_path),
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = (
        [int(number) for number in re.search(pattern, done.stdout, re.MULTILINE).groups()]
        for pattern in (r"^before +(\d+) faults +(\d+)", r"^after +(\d+) faults +(\d+)")
    )
    assert after[0] < before[0]
    assert after[1] < before[1]
    reason = TOLD.search(out).group(3)
    assert f"violates {reason}" in small.read_text().splitlines()
    assert len(small.read_text()) < len((kept / "schedule.txt").read_text())
    again = run(KRAFTPROOF, "sim", "--schedule", small, "--json", "--store", tmp_path)
    assert again.returncode == 1, again.stdout + again.stderr
    assert TOLD.search(again.stdout).group(3) == reason
    assert "another violation" not in again.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"small.txt", "sim-small"}
    assert (kept / "schedule.txt").exists(), "what was shrunk is not touched"


def test_ctrl_c_keeps_the_best_so_far(found, tmp_path):
    out, store = found
    kept = store / f"sim-seed{violation_of(out)['seed']}"
    small = tmp_path / "small.txt"
    process = begin(
        *("shrink", kept / "schedule.txt", "--out", small, "--store", tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().startswith("run    0:")
    assert process.stdout.readline().startswith("run ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == f"kraftproof: interrupted; the smallest run so far is in {small}\n"
    assert small.read_text().startswith("kraftproof schedule 1\n")
    assert {path.name for path in tmp_path.iterdir()} == {"small.txt"}


def test_what_holds_is_not_shrunk(tmp_path):
    done = run(KRAFTPROOF, "shrink", "0", "--time-limit", "1", "--store", tmp_path)
    assert done.returncode == 3
    assert done.stderr == (
        "kraftproof: kraftproof sim --seed 0 --time-limit 1: the run is valid, so the run can't "
        "be shrunk\n"
    )
    assert list(tmp_path.iterdir()) == []
