"""Most seeds draw topics or registration, and some a workload that runs other code of the node."""

from collections import Counter
from pathlib import Path

from kraftproof import mutants
from kraftproof.search.scenario import OTHERS_SHARE, scenario
from kraftproof.workloads.catalogue import SELDOM
from tests.kraftproof.mutants.recorded import RECORDED

STORE = Path("store")
SEEDS = range(700_000, 700_300)


def test_each_workload_is_drawn_in_its_share():
    drawn = Counter(scenario(seed, STORE).options.workload for seed in SEEDS)
    assert set(drawn) == {"topics", "registration", *SELDOM}
    others = sum(drawn[name] for name in set(SELDOM))
    assert abs(others / len(SEEDS) - OTHERS_SHARE) < 0.1


def test_a_drawn_workload_runs_as_a_given_one():
    seed = next(seed for seed in SEEDS if scenario(seed, STORE).options.workload == "log")
    assert scenario(seed, STORE) == scenario(seed, STORE, workload="log")
    assert scenario(seed, STORE).options.node_config


def test_a_seed_of_an_older_mutant_keeps_its_workload():
    older = [one for one in mutants.ALL if one.run_workload is None]
    drawn = {scenario(RECORDED[one.mutant_id]["seed"], STORE).options.workload for one in older}
    assert drawn == {"topics", "registration"}
