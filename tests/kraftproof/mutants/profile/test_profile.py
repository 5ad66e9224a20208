"""The edited functions of the node, and the runs that execute them."""

import json
import subprocess

import pytest

from kraftproof import mutants
from kraftproof.mutants.functions import function_at, functions
from kraftproof.mutants.mutant import Edit, Mutant
from kraftproof.mutants.profile import edits, executed
from kraftproof.mutants.run_order import Executed, PlannedRun

SOURCE = """A = 1


class Log:
    def end(self):
        def inner():
            return 2
        return inner()


def cut():
    return 3
"""


def test_the_innermost_function_holds_a_line():
    named = functions(SOURCE)
    found = [function_at(named, line) for line in (1, 5, 7, 8, 12)]
    assert found == [None, "Log.end", "Log.end.inner", "Log.end", "cut"]


def git(folder, *words):
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A checkout with a module of the node."""
    folder = tmp_path / "node"
    (folder / "core").mkdir(parents=True)
    (folder / "core" / "log.py").write_text(SOURCE)
    (folder / "core" / "other.py").write_text(SOURCE)
    monkeypatch.setattr(edits, "NODE", folder)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "First")
    return folder


def test_an_edited_tree_names_its_functions(tree):
    assert edits.edits_of_tree() == ()
    log = tree / "core" / "log.py"
    log.write_text(SOURCE.replace("return 3", "return 4").replace("return 2", "return 5"))
    assert edits.edits_of_tree() == (("core.log", "Log.end.inner"), ("core.log", "cut"))
    log.write_text(SOURCE.replace("A = 1", "A = 2"))
    assert edits.edits_of_tree() == (("core.log", ""),)
    (tree / "core" / "other.py").unlink()
    (tree / "core" / "log.py").write_text(SOURCE.replace("    return 3\n", ""))
    assert ("core.log", "cut") not in edits.edits_of_tree()  # no Python any more


def test_without_git_nothing_is_edited(tmp_path, monkeypatch):
    monkeypatch.setattr(edits, "NODE", tmp_path)
    assert edits.edits_of_tree() == ()


def test_a_mutant_names_the_functions_of_its_changed_lines():
    edited = ("core.controller.barrier", "ReadBarrier.needs_record")
    assert edits.edits_of(mutants.load("G20")) == (edited,)
    module = "kraftproof.node.core.raft.elections"
    source = edits.source_of(module)
    two = Edit(module=module, old=source[: source.index("class ")], new="")
    found = edits.edits_of(Mutant(mutant_id="x", title="", source="", edits=(two,)))
    assert ("core.raft.elections", "") in found


def test_ids_of_the_catalogue_have_no_plan():
    assert edits.edits_of_file("A1") == ()


RUNS = [
    Executed(PlannedRun(1), 1.0, {("a", "f"): 7, ("a", "g"): 1}),
    Executed(PlannedRun(2, "log"), 0.5, {("a", "g"): 5000, ("b", "h"): 1 << 40}),
]


def test_a_profile_is_read_as_it_is_written(tmp_path):
    file = tmp_path / "executed.json"
    file.write_text(executed.encoded(RUNS))
    first, second = executed.read_profile(file)
    assert (first.run, first.cpu_s, first.counts) == (
        PlannedRun(1),
        1.0,
        {("a", "f"): 4, ("a", "g"): 1},
    )
    assert second.run == PlannedRun(2, "log")
    assert second.counts == {("a", "g"): 4096, ("b", "h"): 1 << 14}
    assert executed.read_profile(tmp_path / "none.json") == []


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ([("a", "f")], ["1::20", "1::60"]),
        ([("b", "h")], ["2:log:20", "2:log:60"]),
        ([("a", "new")], ["2:log:20", "1::20", "2:log:60", "1::60"]),
        ([("a", "")], ["2:log:20", "1::20", "2:log:60", "1::60"]),
        ([("new", "f")], []),
    ],
)
def test_the_runs_that_execute_the_edit_come_first(edited, expected, monkeypatch):
    monkeypatch.setattr(executed, "read_profile", lambda: RUNS)
    assert list(map(str, executed.plan(edited, 60.0))) == expected


def test_the_committed_profile_knows_most_functions_of_the_core():
    found = json.loads(executed.FILE.read_text())
    assert len(found["runs"]) == len(found["cpu_seconds"])
    known = {
        (module, name)
        for module, named in found["functions"].items()
        for name in named
        if module.startswith("core.raft.")
    }
    every = set()
    for file in sorted((edits.NODE / "core" / "raft").rglob("*.py")):
        module = ".".join(file.relative_to(edits.NODE).with_suffix("").parts)
        every |= {(module, name) for name in functions(file.read_text(encoding="utf-8"))}
    assert len(known & every) > 0.7 * len(every)  # else: record the profile anew
