"""`make check` finds the tests that a change concerns, the nearest first, within its time."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import check
from scripts.changed_tests import (
    distances,
    importers,
    module_of,
    named,
    nearest_first,
    within_budget,
)

ROOT = Path(__file__).resolve().parents[2]
TESTS = ["tests/a/test_near.py", "tests/a/test_far.py", "tests/b/test_other.py"]
GRAPH = {
    "kraftproof.node.low": {"kraftproof.node.high", "tests.a.test_near"},
    "kraftproof.node.high": {"tests.a.test_far"},
    "kraftproof.node.other": {"tests.b.test_other"},
}


@pytest.fixture(scope="module")
def graph():
    return importers()


def test_a_file_has_the_name_that_imports_use():
    assert module_of("node/core/node.py") == "kraftproof.node.core.node"
    assert module_of("kraftproof/run/runner.py") == "kraftproof.run.runner"
    assert module_of("checkers/__init__.py") == "kraftproof.checkers"
    assert module_of("tests/style/test_size.py") == "tests.style.test_size"


def test_tests_that_import_a_change_come_before_those_that_reach_it():
    assert nearest_first(["node/low.py"], GRAPH, TESTS) == TESTS[:2]
    assert nearest_first(["node/high.py"], GRAPH, TESTS) == TESTS[1:2]
    assert nearest_first(["LICENSE"], GRAPH, TESTS) == []


def test_a_page_concerns_the_tests_of_pages():
    tests = [*TESTS, "tests/docs/test_pages.py"]
    assert nearest_first(["README.md"], GRAPH, tests) == tests[3:]
    assert nearest_first(["docs/decisions/0001-a.md"], GRAPH, tests) == tests[3:]


def test_a_changed_test_comes_first_and_its_namesake_counts():
    assert nearest_first(["tests/b/test_other.py", "node/low.py"], GRAPH, TESTS)[0] == TESTS[2]
    assert nearest_first(["images/other.py"], GRAPH, TESTS) == [TESTS[2]]


def test_a_module_in_a_string_counts_as_an_import():
    source = (
        'import kraftproof.a\nfrom tests.b import c\nx = ("-m", "kraftproof.d.e", "kraftproof")'
    )
    assert named(ast.parse(source)) == {
        *("kraftproof.a", "tests.b", "tests.b.c", "kraftproof.d.e", "kraftproof.__main__"),
    }


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        (
            "cluster/simulated/kernel/scheduler.py",
            "tests/cluster/simulated/kernel/test_scheduler.py",
        ),
        ("kraftproof/commands/sweep.py", "tests/cluster/docker/test_engine_address.py"),
        ("checkers/models/bank.py", "tests/checkers/models/test_bank.py"),
        ("tests/cluster/docker/conftest.py", "tests/cluster/docker/test_faults.py"),
        ("tests/support/command.py", "tests/kraftproof/test_cli.py"),
    ],
)
def test_changes_of_this_repository_find_their_tests(changed, test, graph):
    tests = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    assert test in nearest_first([changed], graph, tests)


def test_the_hooks_of_all_tests_depend_on_nothing_that_changes_often(graph):
    """Else every change would concern every test."""
    assert "tests.conftest" not in distances(["node/core/node.py"], graph)


def test_the_budget_is_filled_in_order_and_what_does_not_fit_is_left_out():
    seconds = {"a": 4.0, "b": 9.0, "c": 3.0}
    assert within_budget("abcd", seconds, 10.0, 2.0) == (["a", "c", "d"], ["b"])
    assert within_budget("abcd", seconds, 3.9, 2.0) == (["c"], ["a", "b", "d"])


def test_seconds_are_taken_from_reports_and_of_other_files_are_kept(tmp_path, monkeypatch):
    def case(module, cpu_s, *, left_out=False):
        more = '<property name="left_out_of_check" value="yes"/>' if left_out else ""
        return (
            f'<testcase classname="tests.{module}" name="a" time="99"><properties>'
            f'<property name="other" value="7"/><property name="cpu_s" value="{cpu_s}"/>'
            f"{more}</properties></testcase>"
        )

    report = tmp_path / "fast.xml"
    report.write_text(
        f"<testsuites><testsuite>{case('style.test_size', 1.5)}"
        f"{case('style.test_size.TestMore', 2)}{case('gone.test_gone', 9)}"
        f"{case('style.test_size', 40, left_out=True)}{case('docs.test_pages', 9, left_out=True)}"
        '<testcase classname="tests.style.test_prose" name="skipped" time="1"/>'
        "</testsuite></testsuites>"
    )
    monkeypatch.setattr(check, "RECORD", tmp_path / "seconds.tsv")
    check.record([report])
    pages, size = "tests/docs/test_pages.py", "tests/style/test_size.py"
    assert check.recorded(check.RECORD) == {pages: 0, size: 3.5}
    assert check.recorded(check.RECORD, check.WORKER_S) == {pages: 99, size: 3 * 99}
    report.write_text(
        f"<testsuites><testsuite>{case('docs.test_pages', 1)}</testsuite></testsuites>"
    )
    check.record([report])
    assert check.recorded(check.RECORD) == {pages: 1, size: 3.5}


@pytest.mark.long
def test_a_report_has_the_cpu_seconds_of_a_test_and_of_its_child_processes(tmp_path, monkeypatch):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: no check runs the test\n")
    (tmp_path / "test_spends.py").write_text(
        "import pytest, subprocess, sys, time\n"
        "BUSY = 'import time\\nwhile time.process_time() < 0.6: pass'\n"
        "def spend():\n"
        "    subprocess.run([sys.executable, '-c', BUSY], check=True)\n"
        "def test():\n"
        "    spend()\n"
        "    time.sleep(1)\n"
        "@pytest.mark.slow\n"
        "def test_that_no_check_runs():\n"
        "    spend()\n"
    )
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", f"--junitxml={report}"]
    done = subprocess.run([*command, tmp_path], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0, done.stdout
    monkeypatch.setattr(check, "RECORD", tmp_path / "seconds.tsv")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    check.record([report])
    ((path, spent),) = check.recorded(check.RECORD).items()
    assert path == "test_spends.py"
    assert 0.6 <= spent < 1.2


@pytest.mark.long
def test_a_test_that_fails_or_does_not_end_is_no_success(tmp_path):
    for name, text in {
        "good": "def test(): pass",
        "bad": "def test(): raise AssertionError",
        "endless": "import time\ndef test(): time.sleep(60)",
    }.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    assert check.run_tests([str(tmp_path / "test_good.py")], 60)
    assert not check.run_tests([str(tmp_path / "test_bad.py")], 60)
    assert not check.run_tests([str(tmp_path / "test_endless.py")], 2)


def test_times_of_tests_are_recorded():
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    assert check.recorded(check.RECORD).keys() & found, "run 'python -m scripts.check --record'"
