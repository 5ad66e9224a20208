"""The simulation finds every mutant, and nothing in the node as it is."""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from random import Random

import pytest

from kraftproof import mutants
from kraftproof.mutants.search import CLEAN, Searcher, SeedRange
from tests.kraftproof.mutants.recorded import RECORDED, in_parallel
from tests.support.long_cases import mostly_long
from tests.support.random_cases import is_long

pytestmark = pytest.mark.simulation

BUDGET_S = 30
MOST_S = 0.6
"""CPU seconds of a search in `make test`; others are left to `make test-long`."""
LINEARIZABLE = "topics/linearizable"
COMMON = 2
"""Number of runs of the unchanged node in `make test`: those that most searches begin with."""
QUICK_S = 4
FRESH, CLEAN_SEEDS = (2, 4) if is_long() else (1, 2)
"""Mutants that are looked for at seeds that nobody has chosen, and runs of the node as it is."""
FRESH_BUDGET_S = 112


def mutants_of_make_test():
    """Return the mutants that `make test` finds by a search.

    For each invariant that finds a mutant within MOST_S, it is the cheapest one. Every invariant
    has tests of its own beside its code. The check of histories is tried at any cost.
    """
    cheapest = {}
    for mutant_id, one in sorted(RECORDED.items(), key=lambda each: each[1]["cpu_s"]):
        cheapest.setdefault(one["by"], mutant_id)
    return {
        mutant_id
        for by, mutant_id in cheapest.items()
        if RECORDED[mutant_id]["cpu_s"] <= MOST_S or by == LINEARIZABLE
    }


def recorded_run(mutant_id):
    """Return the run that a search begins with: the seed, and the workload in place of its own."""
    return RECORDED[mutant_id]["seed"], mutants.load(mutant_id).workload


@pytest.fixture(scope="module")
def from_recorded_seeds(request):
    """Start every search asked for; a test waits for its own only, so that load adds up in none.

    The unchanged node costs four times as much as a mutant, whose run ends with its violation. A
    test of its own makes the runs of the unchanged node.
    """
    searcher = Searcher(BUDGET_S, clean=map(recorded_run, RECORDED), is_bare=True)
    pool = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    asked = [
        item.callspec.params["mutant"]
        for item in request.session.items
        if item.path == request.path and "mutant" in getattr(item, "fixturenames", ())
    ]
    yield {
        mutant_id: pool.submit(searcher.find, mutant_id, SeedRange(seed, None), workload)
        for mutant_id, (seed, workload) in zip(asked, map(recorded_run, asked), strict=True)
    }
    pool.shutdown(cancel_futures=True)


def test_every_mutant_has_a_recorded_seed():
    assert sorted(RECORDED) == sorted(mutants.IDS)


@pytest.mark.parametrize(
    "mutant", mostly_long([(one, one) for one in mutants.IDS], mutants_of_make_test())
)
def test_it_is_found_from_its_recorded_seed_on(mutant, from_recorded_seeds):
    search = from_recorded_seeds[mutant].result()
    assert search.is_found, search
    assert search.by
    assert not search.false_alarms


@pytest.mark.parametrize("most", [COMMON, pytest.param(None, marks=pytest.mark.long)])
def test_the_unchanged_node_passes_the_runs_that_searches_begin_with(most):
    runs = Counter(map(recorded_run, RECORDED)).most_common(most)
    assert runs
    searcher = Searcher(BUDGET_S, is_bare=True)
    asked = [(CLEAN, SeedRange(seed, seed + 1), workload) for (seed, workload), _ in runs]
    for search in in_parallel(searcher.find, asked):
        assert (search.searched, search.false_alarms, search.unknown) == (1, (), 0), search


@pytest.mark.long
def test_at_seeds_of_today_some_are_found_and_the_node_as_it_is_is_valid():
    """Seeds that no change was made to fit; a failure of today can be run again tomorrow."""
    day = datetime.now(UTC).date().toordinal()
    quick = sorted(mutant_id for mutant_id, one in RECORDED.items() if one["cpu_s"] <= QUICK_S)
    drawn = Random(day).sample(quick, FRESH)
    seeds = SeedRange(day * 1000, None)
    searcher = Searcher(FRESH_BUDGET_S, is_bare=True)
    *found, clean = in_parallel(
        searcher.find,
        [
            *((mutant_id, seeds, mutants.load(mutant_id).workload) for mutant_id in drawn),
            (CLEAN, SeedRange(seeds.first, seeds.first + CLEAN_SEEDS)),
        ],
    )
    asked = f"seeds from {day}000 on: {', '.join(drawn)} and the node as it is"
    assert [search.is_found for search in found] == [True] * FRESH, asked
    assert (clean.searched, clean.false_alarms, clean.unknown) == (CLEAN_SEEDS, (), 0), asked


def test_a_find_is_kept_with_the_mutant_and_its_hash(tmp_path):
    seed = RECORDED["A18"]["seed"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kraftproof", "sim", "--seeds", f"{seed}:", "--json"),
            *("--budget-s", str(BUDGET_S), "--store", str(tmp_path), "--mutant", "A18"),
        ],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    (violation,) = json.loads(done.stdout.splitlines()[-1])["violations"]
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"sim-seed{violation['seed']}"
    run = json.loads((kept / "run.json").read_text())
    assert run["mutant"] == "A18"
    assert run["mutant_hash"] == mutants.mutant_hash("A18")
