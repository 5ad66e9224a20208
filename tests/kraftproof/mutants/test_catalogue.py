"""Every mutant fits the node as it is at this commit, and changes what it does."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from kraftproof import mutants
from kraftproof.checkers.models import models
from kraftproof.mutants.hook import source_of
from kraftproof.mutants.mutant import Edit, Mutant, MutantMismatchError

ROOT = Path(__file__).resolve().parents[3]
SIMULATED = ROOT / "cluster" / "simulated"
MODELS = ROOT / "checkers" / "models"


@cache
def tree_of(source: str) -> str:
    """Return the syntax tree of a source as text, without comments and layout."""
    return ast.dump(ast.parse(source))


@cache
def texts_of(folder: Path) -> str:
    """Return the text of all Python files below a folder."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))


@pytest.mark.parametrize("mutant", mutants.ALL, ids=lambda mutant: mutant.mutant_id)
def test_every_mutant_fits_and_changes_something(mutant):
    assert mutant.modules
    for module in mutant.modules:
        source = source_of(module)
        edited = mutant.mutate(module, source)
        assert tree_of(edited) != tree_of(source)


@pytest.mark.parametrize("mutant", mutants.ALL, ids=lambda mutant: mutant.mutant_id)
def test_every_mutant_says_what_it_is_and_edits_the_node_only(mutant):
    assert mutant.title
    assert mutant.source
    assert mutant.edits
    assert all(module.startswith("kraftproof.node.") for module in mutant.modules)


@pytest.mark.parametrize("mutant", mutants.ALL, ids=lambda mutant: mutant.mutant_id)
def test_what_every_mutant_expects_is_an_invariant_or_a_check_that_there_is(mutant):
    model, slash, check = mutant.expected.partition("/")
    folder, named = SIMULATED, (f"class {mutant.expected}(", f'"{mutant.expected}"')
    if slash:
        folder, named = MODELS, (f'"{mutant.expected}"', f'"{check}", key')
    assert (model in models()) if slash else re.fullmatch(r"[A-Z]\w+", model)
    assert any(name in texts_of(folder) for name in named)


def test_ids_and_hashes_are_unique():
    assert len(set(mutants.IDS)) == len(mutants.IDS)
    assert len({mutant.fingerprint for mutant in mutants.ALL}) == len(mutants.ALL)


def test_the_hash_tells_every_edit():
    first = Edit(module="node.m", old="a", new="b")
    other = Edit(module="node.m", old="a", new="c")
    hashes = {made(first).fingerprint, made(other).fingerprint, made(first, other).fingerprint}
    assert len(hashes) == 3


@pytest.mark.parametrize(("source", "times"), [("x = 1\n", 0), ("x = 2\nx = 2\n", 2)])
def test_an_edit_that_does_not_fit_says_so_in_one_line(source, times):
    mutant = made(Edit(module="node.m", old="x = 2\n", new="x = 3\n"))
    with pytest.raises(MutantMismatchError) as failed:
        mutant.mutate("node.m", source)
    text = str(failed.value)
    assert text.splitlines() == [text]
    assert "node.m" in text
    assert "'x = 2'" in text
    assert f"{times} times" in text


def test_edits_of_one_module_build_on_each_other():
    mutant = made(
        Edit(module="node.m", old="a = 1", new="a = 2"),
        Edit(module="node.m", old="a = 2", new="a = 3"),
        Edit(module="node.other", old="a = 3", new="a = 4"),
    )
    assert mutant.mutate("node.m", "a = 1\n") == "a = 3\n"
    assert mutant.modules == ("node.m", "node.other")


def test_an_unknown_id_names_the_known_ones():
    with pytest.raises(mutants.UnknownMutantError, match="A1 to A33, B1 to B9") as failed:
        mutants.load("A99")
    assert "\n" not in str(failed.value)


def made(*edits: Edit) -> Mutant:
    return Mutant(mutant_id="X", title="x", source="x", edits=edits)
