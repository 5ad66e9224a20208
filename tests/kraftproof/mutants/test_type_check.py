"""An edit that is no sound Python is no bug: mypy refuses it, and its crash is no find."""

import importlib.util
import tempfile

import pytest

from kraftproof import cli, mutants
from kraftproof.mutants.mutant import Edit, Mutant
from kraftproof.mutants.search import Searcher, SeedRange
from kraftproof.mutants.sim_processes import SearchCrashedError, SimProcesses
from kraftproof.mutants.type_check import LENIENT, PACKAGE, TypeChecker, copy_node, module_path

MODULE = "kraftproof.node.core.raft.progress"
LOOKS = "if now.monotonic >= role.replicas.majority_until:\n        state.resign(now)"
MISSPELLED = LOOKS.replace("majority_until", "majority_untill")
FILE = """from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="mine",
    title="A name is misspelled",
    source="a test",
    edits=(Edit(module={module!r}, old={old!r}, new={new!r}),),
)
"""


def edited(new):
    """Return a mutant that writes another text in place of `LOOKS`."""
    edit = Edit(module=MODULE, old=LOOKS, new=new)
    return Mutant(mutant_id="wrong", title="a test", source="a test", edits=(edit,))


@pytest.fixture(scope="module")
def misspelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("mutant") / "mine.py"
    path.write_text(FILE.format(module=MODULE, old=LOOKS, new=MISSPELLED))
    return path


@pytest.mark.slow
@pytest.mark.long
def test_every_mutant_type_checks_and_a_misspelled_attribute_does_not():
    errors = mutants.type_errors((*mutants.ALL, edited(MISSPELLED)))
    assert list(errors) == ["wrong"], errors
    assert errors["wrong"].startswith("kraftproof/node/core/raft/progress.py:")
    assert 'has no attribute "majority_untill"' in errors["wrong"]


def test_the_command_refuses_it_in_one_line(misspelled, capsys, monkeypatch):
    """mypy is silent about files below PYTHONPATH, which may name the temporary folder."""
    monkeypatch.setenv("PYTHONPATH", tempfile.gettempdir())
    assert cli.run(["mutants", str(misspelled), "--repeat", "1"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert str(misspelled) in line
    assert "majority_untill" in line


def test_without_mypy_the_command_says_so_in_one_line(monkeypatch, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "kraftproof.mutants.type_check.find_spec",
        lambda name: None if name == "mypy" else find(name),
    )
    assert cli.run(["mutants", "A18", "--repeat", "1"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "mypy is not installed" in line
    assert "pip install mypy" in line


@pytest.mark.simulation
def test_the_crash_of_a_misspelled_attribute_is_not_counted(misspelled):
    """A search for it goes on past each seed that crashes, and finds nothing."""
    found = Searcher(60).find(str(misspelled), SeedRange(0, 3))
    assert not found.is_found
    assert found.by is None
    assert found.searched == 3
    assert sorted(found.crashes) == [0, 1, 2]


@pytest.mark.simulation
def test_sim_reports_a_crash_with_its_kind(misspelled):
    (violation,) = Searcher(60)._sim(str(misspelled), SeedRange(0, 1), None, None)["violations"]
    assert {name: violation[name] for name in ("seed", "invariant", "kind")} == {
        "seed": 0,
        "invariant": "NoUnhandledException",
        "kind": "crash",
    }
    assert violation["sentence"] == "The code of a node raises no unhandled exception."
    assert violation["detail"].startswith("AttributeError in resign_without_majority: ")
    assert violation["node"] > 0
    assert violation["time"] > 0
    assert violation["event"] > 0


@pytest.mark.simulation
def test_sim_finds_an_edit_of_code_that_clients_share(tmp_path):
    """A comparison encoded a batch at its import, so that the edit was no find but exit code 70."""
    edit = {
        "module": "kraftproof.node.wire.primitives",
        "old": "folded = value << 1 if value >= 0 else (-value << 1) - 1",
        "new": "folded = (-value << 1) - 1 if value >= 0 else value << 1",
    }
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(**edit))
    (violation,) = Searcher(60)._sim(str(path), SeedRange(0, 1), None, None)["violations"]
    assert (violation["kind"], violation["invariant"]) == ("property", "WireMatchesReference")


@pytest.mark.simulation
def test_a_search_that_crashes_outside_of_the_node_names_the_exception(tmp_path):
    edit = {
        "module": "kraftproof.node.wire.frames",
        "old": "MAX_FRAME_BYTES: Final = ",
        "new": "MAX_FRAME_BYTES: Final = 1 // 0 + ",
    }
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(**edit))
    with pytest.raises(SearchCrashedError, match=r"^ZeroDivisionError: "):
        SimProcesses().run(["--seed", "0", "--mutant", str(path)], "mine")


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(tmp_path, monkeypatch):
    """The daemon compares sizes and whole seconds, so each write has a second of its own."""
    same_length = [LOOKS.replace(">=", one) for one in ("<=", "==", "!=")]
    checker, seen = TypeChecker(tmp_path, LENIENT), []
    copy_node(tmp_path / PACKAGE)
    path = module_path(tmp_path, MODULE)
    monkeypatch.setattr(checker, "_is_started", True)
    monkeypatch.setattr(checker, "_first_error", lambda: seen.append(int(path.stat().st_mtime)))
    for new in same_length:
        checker.error_of(edited(new))
        assert new in path.read_text()
    assert len(set(seen)) == len(same_length)
