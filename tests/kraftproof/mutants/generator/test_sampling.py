"""One seed draws the same mutants each time, and every operator has its turn."""

from itertools import islice
from pathlib import Path

from kraftproof.mutants.generator.candidates import read_sources
from kraftproof.mutants.generator.operators import OPERATORS
from kraftproof.mutants.generator.sampling import draw

RAFT = Path(__file__).resolve().parents[4] / "node" / "core" / "raft"
SOURCES = read_sources([RAFT / "elections.py", RAFT / "fetch_rpc.py"])


def drawn(seed):
    return list(islice(draw(SOURCES, seed), 2 * len(OPERATORS)))


def test_a_seed_draws_the_same_mutants():
    first, again, other = ([one.mutant().mutant_id for one in drawn(seed)] for seed in (3, 3, 4))
    assert first == again != other
    assert len(set(first)) == len(first)


def test_operators_take_turns():
    assert [one.operator for one in drawn(1)] == 2 * list(OPERATORS)


def test_every_drawn_edit_is_another_program():
    assert [one.is_valid for one in drawn(2)] == [True] * 2 * len(OPERATORS)
