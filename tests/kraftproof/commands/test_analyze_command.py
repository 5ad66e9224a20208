"""`kraftproof analyze` as its user meets it: exit codes, a line a mistake, tables and the page."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof.cli import run
from kraftproof.report.analysis import read_analysis
from tests.support.checkers.analyses import register_events as events_of
from tests.support.checkers.analyses import some_runs, steady, write_run
from tests.support.long_cases import long


def a_run(folder: Path) -> Path:
    return write_run(folder, events_of(start_s=1, steps=steady(3)))


def mistake(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Runs the command, which must end with 3 and say one line; returns it."""
    assert run(["analyze", *map(str, arguments)]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = [line for line in said.err.splitlines() if not line.startswith("·")]
    return line


def test_a_path_without_runs_is_named(tmp_path, capsys):
    line = mistake(capsys, tmp_path, "--out", tmp_path / "out")
    assert f"{tmp_path}: no history" in line
    assert "and no run directory in it" in line
    assert not (tmp_path / "out").exists()


def test_a_directory_of_somebody_else_is_refused_and_left_alone(tmp_path, capsys):
    out = tmp_path / "theirs"
    out.mkdir()
    (out / "thesis.txt").write_text("four years")
    line = mistake(capsys, a_run(tmp_path / "run"), "--out", out)
    assert f"--out {out}: the path exists and is no earlier analysis" in line
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("master", "problem"),
    [
        long("spark://nowhere", "not of the form spark://HOST:PORT"),
        ("spark://127.0.0.1:HELD", "no Spark master answers"),
        long("spark://127.0.0.1:99999", "no Spark master answers"),
    ],
)
def test_a_master_that_is_not_there_is_one_line(tmp_path, master, problem):
    """In a process of its own: this one may have a session, which would be taken instead."""
    a_run(tmp_path / "run")
    with socket.socket() as held:  # nobody can listen there meanwhile
        held.bind(("127.0.0.1", 0))
        master = master.replace("HELD", str(held.getsockname()[1]))
        command = [sys.executable, "-m", "kraftproof", "analyze", "run", "--master", master]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert f"--master {master}: {problem}" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "analysis").exists()


def test_a_machine_without_java_is_told_so(tmp_path):
    a_run(tmp_path / "run")
    command = [sys.executable, "-m", "kraftproof", "analyze", "run"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": "/nowhere"}
    )
    assert done.returncode == 3
    assert "there is no java on PATH or in JAVA_HOME" in done.stderr.splitlines()[-1]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_runs_become_tables_and_a_page_and_one_that_is_bad_is_named(tmp_path, capsys):
    runs = some_runs(tmp_path / "runs <&>")
    out = tmp_path / "out"
    assert run(["analyze", str(tmp_path / "runs <&>"), "--out", str(out)]) == 3
    said = capsys.readouterr()
    assert said.out.splitlines()[0].startswith(f"invalid  {runs[2]}  cas-register, 41 operations")
    assert said.out.splitlines()[-1].startswith("invalid  2 valid, 1 invalid of 3 runs; 132")
    bad = [line for line in said.err.splitlines() if line.startswith("kraftproof analyze:")]
    assert len(bad) == 1
    assert f"{runs[3]}/history.jsonl:41: not a JSON event" in bad[0]
    analysis = read_analysis(out)
    assert [span.kind for strip in analysis.strips for span in strip.faults] == [
        "kill",
        "pause",
        "pause",
    ]
    page = (out / "summary.html").read_text()
    assert "runs &lt;&amp;&gt;" in page
    assert "<&>" not in page
    assert not re.search(r"(src|href)=", page)
    assert "not a JSON event" in page
    assert json.loads((out / "analysis.json").read_text())["refused"] == [bad[0][20:]]
    good = [str(run) for run in runs[:2]]
    assert run(["analyze", *good, "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["runs"]["valid"], told["operations"]) == ("valid", 2, 91)
