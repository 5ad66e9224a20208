"""An edit that is no sound Python is no bug: mypy refuses it, and its crash is no find."""

import importlib.util

import pytest

from kraftproof import cli, mutants
from kraftproof.mutants.mutant import Edit, Mutant
from kraftproof.mutants.search import Searcher, SeedRange

LOOKS = "if now.monotonic >= role.replicas.majority_until:\n        state.resign(now)"
MISSPELLED = LOOKS.replace("majority_until", "majority_untill")
FILE = """from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="mine",
    title="A name is misspelled",
    source="a test",
    edits=(Edit(module="kraftproof.node.core.raft.progress", old={old!r}, new={new!r}),),
)
"""


@pytest.fixture(scope="module")
def misspelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("mutant") / "mine.py"
    path.write_text(FILE.format(old=LOOKS, new=MISSPELLED))
    return path


@pytest.mark.slow
@pytest.mark.long
def test_every_mutant_type_checks_and_a_misspelled_attribute_does_not():
    wrong = Mutant(
        mutant_id="wrong",
        title="a test",
        source="a test",
        edits=(Edit(module="kraftproof.node.core.raft.progress", old=LOOKS, new=MISSPELLED),),
    )
    errors = mutants.type_errors((*mutants.ALL, wrong))
    assert list(errors) == ["wrong"], errors
    assert errors["wrong"].startswith("kraftproof/node/core/raft/progress.py:")
    assert 'has no attribute "majority_untill"' in errors["wrong"]


def test_the_command_refuses_it_in_one_line(misspelled, capsys):
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
