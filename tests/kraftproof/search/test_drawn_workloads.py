"""Seeds draw topics or registration; some seeds of a search for a bug draw other workloads."""

from collections import Counter
from pathlib import Path

from kraftproof import mutants
from kraftproof.search.scenario import OTHERS_SHARE, scenario
from kraftproof.workloads.catalogue import SELDOM
from tests.kraftproof.mutants.recorded import RECORDED

STORE = Path("store")
SEEDS = range(700_000, 700_300)


def drawn_workload(seed: int, mutant: str | None = "A18") -> str:
    return scenario(seed, STORE, mutant=mutant).options.workload


def test_each_workload_is_drawn_in_its_share():
    drawn = Counter(map(drawn_workload, SEEDS))
    assert set(drawn) == {"topics", "registration", *SELDOM}
    others = sum(drawn[name] for name in set(SELDOM))
    assert abs(others / len(SEEDS) - OTHERS_SHARE) < 0.1


def test_a_drawn_workload_runs_as_a_given_one():
    seed = next(seed for seed in SEEDS if drawn_workload(seed) == "log")
    drawn = scenario(seed, STORE, mutant="A18")
    assert drawn == scenario(seed, STORE, mutant="A18", workload="log")
    assert drawn.options.node_config


def test_the_unchanged_node_runs_topics_and_registration():
    drawn = {drawn_workload(seed, mutant=None) for seed in SEEDS}
    assert drawn == {"topics", "registration"}


def test_a_seed_of_an_older_mutant_keeps_its_workload():
    older = [one for one in mutants.ALL if one.run_workload is None]
    drawn = {drawn_workload(RECORDED[one.mutant_id]["seed"], one.mutant_id) for one in older}
    assert drawn == {"topics", "registration"}
