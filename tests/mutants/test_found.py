"""The simulation finds every mutant, and nothing in the node as it is."""

import json

import pytest

import mutants
from tests.mutants.recorded import SEEDS, search

pytestmark = pytest.mark.simulation


def test_every_mutant_has_a_recorded_seed():
    assert sorted(SEEDS) == sorted(mutants.IDS)


@pytest.mark.parametrize("mutant", mutants.IDS)
def test_it_is_found_from_its_recorded_seed_on(mutant, tmp_path):
    found, status = search(mutant, f"{SEEDS[mutant]}:", 30, tmp_path)
    assert status == 1, found
    (violation,) = found["violations"]
    assert any(
        sentence.startswith(("invariant: ", "kraft/", "topics/", "registration/"))
        for sentence in violation["why"]
    )
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"sim-seed{violation['seed']}"
    run = json.loads((kept / "run.json").read_text())
    assert run["mutant"] == mutant
    assert run["mutant_hash"] == mutants.mutant_hash(mutant)


def test_the_node_as_it_is_is_found_valid(tmp_path):
    found, status = search(None, "0:6", 60, tmp_path)
    assert (status, found["seeds"], found["violations"]) == (0, 6, [])
    assert list(tmp_path.iterdir()) == []
