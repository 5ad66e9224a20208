"""A short history is checked and explained in plain Python: nothing is compiled for it."""

import inspect
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kraftproof.checkers import check_paths, check_run, compiling
from kraftproof.cli import run
from kraftproof.options import RunOptions
from tests.support.long_cases import long

SHOW = """
import sys
from kraftproof.cli import run
command, *histories = sys.argv[1:]
for history in histories:
    status = run([command, history])
    loaded = [name for name in ("numba", "pandas", "pyspark") if name in sys.modules]
    print("status of", history, status, loaded)
"""
INVALID = {
    "cas-register": ("2000", "stale-read"),
    "counter": ("500", "lost-add"),
    "kv-append": ("500", None),
    "list-append": ("100", None),
    "map": ("2000", "stale-read"),
    "multi-register": ("500", "stale-read"),
    "mutex": ("2000", "double-acquire"),
    "queue": ("500", "duplicate"),
    "stack": ("100", "false-empty"),
    "topics": ("2000", "gone-id"),
}
"""By model: how many operations, and the corruption; None for a valid history."""


@pytest.mark.parametrize("command", ["check", long("explain")])
def test_a_short_history_needs_nothing_compiled(command: str, tmp_path: Path) -> None:
    wanted = []
    for model, (operations, corruption) in INVALID.items():
        history = tmp_path / f"{model}.jsonl"
        corrupt = [] if corruption is None else ["--corrupt", corruption]
        made = ["generate", "--model", model, "--operations", operations, *corrupt]
        assert run([*made, "--out", str(history)]) == 0
        wanted.append(f"status of {history} {0 if corruption is None else 1} []")

    histories = [str(tmp_path / f"{model}.jsonl") for model in INVALID]
    done = subprocess.run(
        [sys.executable, "-c", SHOW, command, *histories],
        capture_output=True,
        text=True,
        check=True,
    )

    shown = [line for line in done.stdout.splitlines() if line.startswith("status of")]
    assert shown == wanted


def test_compiling_that_takes_long_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "LONG_SECONDS", 0.01)
    lines: list[str] = []
    reported = threading.Event()

    def report(line: str) -> None:
        lines.append(line)
        reported.set()

    compiling.report_compiling(report)
    with compiling.compiling():
        assert reported.wait(10)
    with compiling.compiling():
        assert not threading.Event().wait(0.05)

    assert lines == [compiling.LINE]


def test_compiling_that_is_quick_is_not_reported() -> None:
    lines: list[str] = []
    compiling.report_compiling(lines.append)
    with compiling.compiling():
        pass
    assert lines == []
    assert not [
        one
        for one in threading.enumerate()
        if isinstance(one, threading.Timer) and not one.finished.is_set()
    ]


def test_a_run_tells_how_long_each_phase_took(healthy_run: Path) -> None:
    phases = json.loads((healthy_run / "phases.json").read_text(encoding="utf-8"))
    assert list(phases)[-4:] == [
        "stopping the nodes",
        "collecting the nodes' files",
        "checking with the inline engine",
        "writing the report",
    ]
    assert min(phases.values()) >= 0


def test_one_run_is_checked_without_spark_unless_it_is_asked_for() -> None:
    assert RunOptions().engine == "inline"
    assert inspect.signature(check_run).parameters["engine"].default == "inline"
    assert inspect.signature(check_paths).parameters["engine"].default == "inline"
