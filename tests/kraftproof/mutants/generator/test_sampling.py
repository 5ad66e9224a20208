"""One seed draws the same mutants each time, and every operator has its turn."""

from itertools import islice
from pathlib import Path

from kraftproof.mutants.generator.candidates import read_sources
from kraftproof.mutants.generator.operators import OPERATORS
from kraftproof.mutants.generator.sampling import draw

RAFT = Path(__file__).resolve().parents[4] / "node" / "core" / "raft"


def drawn(seed, number=40):
    return [one.mutant().mutant_id for one in islice(draw(read_sources([RAFT]), seed), number)]


def test_a_seed_draws_the_same_mutants():
    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)
    assert len(set(drawn(3))) == 40


def test_operators_take_turns():
    first = islice(draw(read_sources([RAFT]), 1), len(OPERATORS))
    assert [one.operator for one in first] == list(OPERATORS)


def test_every_drawn_edit_is_another_program():
    found = [one.is_valid for one in islice(draw(read_sources([RAFT]), 2), 60)]
    assert found == [True] * 60
