"""Stages in the background run beside the others, at low priority, and their output is whole."""

import os
import sys
from pathlib import Path

import pytest

from scripts.run_tests import FAST, OTHER_STAGE, ROOT, fast_files, names_marker, stages
from scripts.stage_runs import AT_LOW_PRIORITY, Outcome, Stage, busy_share, run, run_all, table

PRIORITY = "import os; print('priority', os.getpriority(os.PRIO_PROCESS, 0))"
MEETING = """
import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
mine.touch()
deadline = time.monotonic() + 60
while not other.exists():
    assert time.monotonic() < deadline, "the other stage did not run"
    time.sleep(0.01)
"""


def stage(name: str, *arguments: object, needs: str | None = None, behind: bool = False) -> Stage:
    command = (sys.executable, "-c", *map(str, arguments))
    return Stage(name=name, commands=(command,), needs=needs, in_background=behind)


def verdicts(*every: Stage) -> dict[str, str]:
    return {one.name: one.verdict for one in run_all(every, ())}


def test_a_stage_in_the_background_runs_beside_the_next(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    found = verdicts(
        stage("behind", MEETING, one, other, behind=True), stage("front", MEETING, other, one)
    )
    assert found == {"front": "ok", "behind": "ok"}


def test_its_output_is_printed_at_its_end_with_its_low_priority(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert verdicts(stage("behind", PRIORITY, behind=True)) == {"behind": "ok"}
    said = capfd.readouterr().out
    assert "=== behind begins in the background\n" in said
    heading, _, output = said.partition("=== behind, in the background until now\n$ ")
    assert heading
    expected = os.getpriority(os.PRIO_PROCESS, 0) + int(AT_LOW_PRIORITY[-1])
    assert output.splitlines()[-1] == f"priority {min(expected, 19)}"


def test_failures_are_told_and_what_needs_them_does_not_run() -> None:
    found = verdicts(
        stage("behind", "raise SystemExit(1)", behind=True),
        stage("front", "raise SystemExit(1)"),
        stage("after", "pass", needs="front"),
        stage("last", "pass"),
    )
    assert found == {
        "front": "failed",
        "after": "not run: front failed",
        "last": "ok",
        "behind": "failed",
    }


def test_the_whole_time_is_not_the_sum() -> None:
    outcomes = run_all([stage("one", "pass"), stage("two", "pass", behind=True)], ())
    assert table(outcomes, 1.25).splitlines()[-1].split() == ["all", "1.2", "s"]


def test_a_stage_is_stopped_after_its_time(capfd: pytest.CaptureFixture[str]) -> None:
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    assert run(Stage(name="endless", commands=(command,), most_seconds=1), ()).verdict == "failed"
    assert "took more than 1 s and was stopped" in capfd.readouterr().out


def test_the_machine_is_busy_while_a_stage_computes() -> None:
    """User, nice, system, idle and waiting time of two counts."""
    assert busy_share([10, 0, 10, 100, 5], [60, 0, 20, 130, 15]) == pytest.approx(0.6)
    assert busy_share([], []) is None
    busy = run(stage("one", "sum(range(10_000_000))"), ()).busy
    assert busy is not None
    assert 0 < busy <= 1
    line = table([Outcome(name="one", seconds=2, verdict="ok", busy=0.6)], 2).splitlines()[-2]
    assert line.split() == ["one", "2.0", "s", "60%", "busy", "ok"]


def test_stages_in_the_background_need_nothing_and_have_no_live_clusters() -> None:
    behind = [one for one in stages() if one.in_background]
    assert [one.name for one in behind] == ["wheel"]
    assert not any(one.needs or one.at_once for one in behind)


def test_the_first_of_two_commands_is_shown_while_it_runs_and_the_other_one_at_its_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    say = f"{MEETING}\nprint(mine.name, 'met the other')"
    first = (sys.executable, "-c", say, str(one), str(other))
    second = (sys.executable, "-c", say, str(other), str(one))
    stage = Stage(name="two", commands=(first, second), at_once=True, is_first_shown=True)
    assert run(stage, ()).verdict == "ok"
    said = capfd.readouterr().out
    assert {"one met the other", "other met the other"} <= set(said.splitlines())


@pytest.mark.parametrize("statuses", [(0, 1), (1, 0)])
def test_each_of_two_commands_at_once_may_fail(statuses: tuple[int, int]) -> None:
    first, second = ((sys.executable, "-c", f"raise SystemExit({status})") for status in statuses)
    stage = Stage(name="two", commands=(first, second), at_once=True, is_first_shown=True)
    assert run(stage, ()).verdict == "failed"


def test_the_fast_stage_collects_each_file_once_unless_all_its_tests_have_another_stage() -> None:
    computing, waiting = fast_files()
    assert not set(computing) & set(waiting)
    everything = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    left = everything - {*computing, *waiting}
    assert left
    for path in left:
        marked = OTHER_STAGE.search((ROOT / path).read_text(encoding="utf-8"))
        assert marked, path
        assert marked[1] == "long" or (
            names_marker(ROOT / path, marked[1]) and f"not {marked[1]}" in FAST
        )
