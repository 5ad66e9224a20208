"""Wrong values of options, and paths of results, are refused in one line before the work begins."""

import pytest

from kraftproof.commands import sim as sim_command
from tests.support.command import call, one_line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("test --seed x", "--seed x: a whole number is expected"),
        ("test --seed 1.5", "--seed 1.5: a whole number is expected"),
        ("test --time-limit soon", "--time-limit soon: a number is expected"),
        ("replay RUN --times 0", "--times 0: 1 or more is expected"),
        ("replay RUN --times 1001", "--times 1001: 1000 or less is expected"),
        ("check h.jsonl --key-seconds nan", "--key-seconds nan: 0.001 or more is expected"),
        ("analyze h.jsonl --gap-seconds inf", "--gap-seconds inf: 1e+09 or less is expected"),
        (
            "check h.jsonl --engine flink",
            "--engine flink: one of spark, inline is expected",
        ),
    ],
)
def test_a_value_that_the_parser_refuses_is_named(arguments, said):
    assert one_line(call(*arguments.split()), 3) == f"kraftproof: {said}"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("check", ""), "''"),
        (("analyze", "h.jsonl", ""), "''"),
        (("report", ""), "''"),
        (("explain", ""), "''"),
        (("check", "h.jsonl", "--explain", ""), "--explain ''"),
        (("replay", "RUN", "--store="), "--store ''"),
        (("sim", "--seeds", ""), "--seeds ''"),
        (("generate", "--out", ""), "--out ''"),
    ],
)
def test_an_empty_text_does_not_stand_for_the_current_folder(arguments, where):
    line = one_line(call(*arguments), 3)
    said = "the text is empty, as that of an unset variable of a script"
    assert line == f"kraftproof: {where}: {said}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("fuzz", "--backend", "simulated", "--frames", "1", "--out"),
        ("shrink", "1", "--budget-s", "1", "--out"),
    ],
)
def test_the_folder_of_a_result_is_refused_before_the_work(arguments, tmp_path):
    line = one_line(call(*arguments, tmp_path), 3)
    assert line == f"kraftproof: --out {tmp_path}: Is a directory; the name of a file is expected"


def test_an_unknown_command_is_named_with_the_nearest():
    line = one_line(call("chek", "h.jsonl"), 3)
    assert line.startswith("kraftproof: unknown command 'chek' (did you mean check?): one of test,")


@pytest.fixture
def searches(monkeypatch):
    """Records the searches that begin, and runs none."""
    begun = []
    monkeypatch.setattr(sim_command, "_search", lambda *given, **_: begun.append(given))
    return begun


@pytest.mark.parametrize("option", ["--coverage", "--blocks"])
def test_a_file_that_a_search_can_not_write_is_refused_before_the_search(
    option, searches, tmp_path
):
    command = ("sim", "--seeds", "0:2", "--store", tmp_path / "store", option)
    there = tmp_path / "there"
    there.write_text("")
    for path, said in {
        tmp_path: f"{tmp_path}: Is a directory; the name of a file is expected",
        tmp_path / "no" / "x": f"{tmp_path}/no/x: {tmp_path}/no does not exist; make it first",
        there / "x": f"{there}/x: {there} is not a folder",
        tmp_path / ("x" * 300): " File name too long",
    }.items():
        line = one_line(call(*command, path), 3)
        assert line.startswith(f"kraftproof: {option} {tmp_path}")
        assert line.endswith(said)
    assert searches == []
    call(*command, there)
    call(*command, tmp_path / "new")
    assert len(searches) == 2


def test_explanations_that_can_not_be_written_are_refused_before_the_check(tmp_path):
    history = tmp_path / "h.jsonl"
    made = call("generate", "--corrupt", "stale-read", "--out", history)
    assert made.returncode == 0, made.stderr
    line = one_line(call("explain", history, "--html", tmp_path / "no" / "why.html"), 3)
    assert line.endswith(f"{tmp_path}/no does not exist; make it first")
    line = one_line(call("check", history, "--explain", history), 3)
    assert line == f"kraftproof: --explain {history}: {history} is not a directory"


@pytest.mark.parametrize("beside", ["--seeds 0:2", "--seed 3"])
def test_runs_name_the_seeds_of_a_search(beside, searches, tmp_path):
    command = ("sim", "--store", tmp_path, "--runs", "4:topics:2")
    line = one_line(call(*command, *beside.split()), 3)
    assert line.startswith("kraftproof: --runs 4:topics:2: names the seeds; --seeds and --seed")
    assert searches == []
    call(*command)
    assert len(searches) == 1


def test_a_schedule_file_is_the_only_run(searches, tmp_path):
    line = one_line(call("sim", "--schedule", tmp_path / "s", "--runs", "4:topics:2"), 3)
    assert "--runs" in line
    assert "can't be combined with --schedule" in line
    assert searches == []


def test_an_option_of_check_that_is_not_read_is_refused(tmp_path):
    run, history = tmp_path / "run", tmp_path / "h.jsonl"
    run.mkdir()
    (run / "run.json").write_text("{}")
    history.write_text("")
    line = one_line(call("check", history, "--engine", "spark", "--processes", "2"), 3)
    assert line == "kraftproof: --processes 2: the engine spark takes no number of processes"
    line = one_line(call("check", run, run, "--explain", tmp_path / "out"), 3)
    assert line == (
        f"kraftproof: --explain {tmp_path / 'out'}: each path is a run directory, whose own folder "
        "explanations/ has the explanations"
    )
    mixed = call("check", run, history, "--explain", tmp_path / "out")
    assert "--explain" not in mixed.stderr
