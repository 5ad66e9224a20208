"""The bench beside the peers: its limits, its numbers, and the histories that it asks for."""

import sys
from pathlib import Path

import pytest

from bench.checkers.claims import CLAIMS, judged
from bench.checkers.histories import ROWS
from bench.checkers.kept import Kept, state_of
from bench.checkers.measure import OURS, Result, median_and_upper, ratio_and_upper
from bench.checkers.page import page
from bench.checkers.processes import Checked, ExceededError, Limits, Worker, whole_output
from bench.checkers.shared import compared
from kraftproof.checkers.generate.catalogue import SUBJECTS
from tests.checkers.conftest import HISTORIES

LIMITS = Limits(seconds=5.0, memory_bytes=400_000_000)
SERVE = "import sys\nprint('{}', flush=True)\nkept = []\nfor _ in sys.stdin:\n    "
ANSWER = '\n    print(\'{"seconds": 0.5, "invalid": 1}\', flush=True)'


def checked(work, limits=LIMITS):
    with Worker([sys.executable, "-c", SERVE + work + ANSWER], Path(), limits) as worker:
        return worker.check()


def result(*seconds, failure=None, grown_bytes=0):
    first = None
    if seconds:
        first = Checked(seconds=1, invalid=0, unknown=0, grown_bytes=grown_bytes, peak_bytes=0)
    return Result(alone=[*seconds], first=first, failure=failure, grown_bytes=grown_bytes)


def test_a_check_is_timed_by_the_process_and_its_memory_seen_from_outside():
    one = checked("b = bytearray(100_000_000); del b")
    assert (one.seconds, one.invalid, one.unknown) == (0.5, 1, 0)
    assert 95_000_000 <= one.grown_bytes < 200_000_000
    assert checked("pass").grown_bytes < 20_000_000


@pytest.mark.parametrize(
    ("work", "word"),
    [
        ("kept.append(bytearray(1_000_000_000)); input()", "OOM"),
        ("import time; time.sleep(60)", r"\?"),
        ("sys.exit('out of ideas')", "out of ideas"),
        ("import os; os.abort()", "died"),
    ],
)
def test_what_exceeds_a_limit_is_ended(work, word):
    limits = Limits(seconds=1.0, memory_bytes=400_000_000) if "sleep" in work else LIMITS
    with pytest.raises(ExceededError, match=word):
        checked(work, limits)


def test_a_whole_command_is_timed_and_limited():
    seconds, output = whole_output([sys.executable, "-c", "print(7)"], Path(), LIMITS)
    assert (seconds > 0, output) == (True, "7\n")
    failing = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    assert whole_output(failing, Path(), LIMITS, codes=(0, 1))[1] == ""
    with pytest.raises(ExceededError, match="no such thing"):
        whole_output(failing, Path(), LIMITS)
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(ExceededError, match=r"\?"):
        whole_output(slow, Path(), Limits(seconds=0.5, memory_bytes=LIMITS.memory_bytes))


def test_the_upper_bound_is_above_the_median_and_within_the_values():
    values = [1.0, 1.1, 1.2, 1.3, 9.0]
    median, upper = median_and_upper(values)
    assert (median, median_and_upper(values)) == (1.2, (median, upper))
    assert median < upper <= 9.0
    assert median_and_upper([2.0] * 15) == (2.0, 2.0)


def test_ratios_are_paired_and_a_time_out_counts_as_the_limit():
    assert ratio_and_upper(result(1, 10, 100), result(2, 20, 200), LIMITS) == (0.5, 0.5)
    assert ratio_and_upper(result(1, 1), result(failure="?"), LIMITS) == (0.2, 0.2)
    assert ratio_and_upper(result(1, 1), result(failure="OOM"), LIMITS) is None
    assert ratio_and_upper(result(failure="?"), result(1), LIMITS) is None


def test_claims_are_met_missed_or_not_shown():
    claims = {(claim.row, claim.peer, claim.of_memory): claim for claim in CLAIMS}
    time = claims["cas-c10", "porcupine", False]
    memory = claims["cas-c10", "porcupine", True]
    ours = result(*[0.5] * 15, grown_bytes=10)

    def judge(claim, mine, other):
        measured = {claim.row: {OURS: mine, "porcupine": other, "porcupine-rs": other}}
        return judged(claim, measured, LIMITS)[0]

    assert judge(time, ours, result(*[8.0] * 15)) == "met"
    assert judge(time, ours, result(*[2.0] * 15)) == "NOT MET"
    assert judge(time, ours, result(failure="OOM")) == "met"
    assert judge(time, result(0.5), result(8.0)) == "too few repetitions"
    assert judge(time, result(failure="?"), result(*[8.0] * 15)) == "NOT MET"
    assert judge(memory, ours, result(8.0, grown_bytes=600)) == "met"
    assert judge(memory, ours, result(8.0, grown_bytes=400)) == "NOT MET"
    assert judged(time, {}, LIMITS)[0] == "not measured"


def test_the_page_says_where_a_peer_is_faster_and_who_is_wrong():
    fast, slow = result(*[1.0] * 15), result(*[2.0] * 15)
    measured = {
        "cas-c10-invalid": {"porcupine": fast, "porcupine-rs": result(failure="?"), OURS: slow}
    }
    text = "\n".join(page(measured, {"cas-c10-invalid": 1}, (), LIMITS))
    assert "| **valid** | 15 |" in text
    assert "Missing: etcd, knossos, cas-c5, cas-c10, cas-c20," in text
    sides = [type("Side", (), {"name": name, "version": "1"}) for name in ("porcupine", OURS)]
    text = "\n".join(page(measured, {"cas-c10-invalid": 1}, sides, LIMITS))
    assert "100k, c10, invalid: porcupine, the check alone, 2 times." in text


def test_a_run_that_ended_early_goes_on_with_its_rows_and_no_others(tmp_path):
    path, of = tmp_path / "measured.json", state_of([15, LIMITS])
    kept = Kept(
        of, {"etcd": {OURS: result(1.5, 2.5), "porcupine": result(failure="?")}}, {"etcd": 52}
    )
    kept.write(path)
    assert Kept.read(path, of) == kept
    assert Kept.read(path, state_of([5, LIMITS])).measured == {}
    assert Kept.read(tmp_path / "none.json", of).measured == {}
    path.write_bytes(path.read_bytes()[:40])
    assert Kept.read(path, of).measured == {}


def test_recorded_histories_are_right_wrong_or_unknown():
    wanted = {"h/a": "valid", "h/b": "invalid"}
    assert compared(wanted, wanted, 1.0) == ("met", "2 of 2 right, 0 unknown, 1 s as one command")
    for told in ({"h/a": "valid"}, {"h/a": "valid", "h/b": "unknown"}, {**wanted, "h/b": "valid"}):
        verdict, words = compared(wanted, told, 1.0)
        assert (verdict, words.endswith("; not b")) == ("NOT MET", True)


def test_every_row_has_a_history():
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {claim.row for claim in CLAIMS} <= {row.name for row in ROWS}
    for row in ROWS:
        if row.folder:
            assert len(list((HISTORIES / row.folder).glob("*.jsonl"))) == int(row.title.split()[0])
            assert row.count("invalid") > 0
            assert row.count("unknown") == (2 if "knossos" in row.folder else 0)
            continue
        options = row.options.split()
        corrupt = options[options.index("--corrupt") + 1] if "--corrupt" in options else None
        subject = SUBJECTS[row.model]
        assert row.invalid == (corrupt is not None)
        assert corrupt is None or subject.corruptions[corrupt].is_guaranteed
