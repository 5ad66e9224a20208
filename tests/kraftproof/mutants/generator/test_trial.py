"""A search for a generated mutant: its order of seeds, and what kills the mutant."""

from pathlib import Path

import pytest

from kraftproof.errors import UsageError
from kraftproof.mutants.generator import seed_order
from kraftproof.mutants.generator.candidates import read_sources
from kraftproof.mutants.generator.results import append_result, read_results, totals
from kraftproof.mutants.generator.review import read_review, section, with_section
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.seed_order import SeedOrder
from kraftproof.mutants.generator.trial import HUNG, Searches
from kraftproof.mutants.sim_processes import SearchHungError

ELECTIONS = Path(__file__).resolve().parents[4] / "node" / "core" / "raft" / "elections.py"
CANDIDATE = next(draw(read_sources([ELECTIONS]), 0))
LIMIT_S = 60.0
MODULE = CANDIDATE.source.module


def everywhere(seeds, runs):
    """Counts of seeds that run each block of the module so many times."""
    counts = {str(block): runs for block in range(200)}
    return [
        {"seed": seed, "verdict": "valid", "cpu_seconds": 1.0, "blocks": {MODULE: counts}}
        for seed in seeds
    ]


class Scripted:
    """Processes that answer as a test says: the kind of the violation by seed."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.asked = []

    def run(self, arguments, subject, limit_s=0):
        seeds = list(map(int, arguments[arguments.index("--seeds") + 1].split(",")))
        self.asked.append(seeds)
        self.arguments = arguments
        found = []
        for seed in seeds:
            found.append(seed)
            if self.kinds.get(seed) == "hung":
                raise SearchHungError(subject)
            if seed in self.kinds:
                kind = self.kinds[seed]
                violation = {"seed": seed, "kind": kind, "invariant": "LogMatching"}
                violation["detail"] = "KeyError in f: 3"
                return result(found, [violation])
        return result(found, [])


def result(seeds, violations):
    return {"seeds": len(seeds), "violations": violations, "cpu_seconds": 2.0 * len(seeds)}


def run(kinds, counts, budget_s=30.0):
    processes = Scripted(kinds)
    searches = Searches(processes, SeedOrder({None: counts}), budget_s, Path(), LIMIT_S)
    return searches.run(CANDIDATE), processes.asked


def test_the_seeds_that_run_the_block_most_come_first():
    counts = [*everywhere([1], 5), *everywhere([2], 50), *everywhere([3], 0)]
    trial, asked = run({}, counts)
    assert asked == [[2, 1]]
    assert (trial.result, trial.searched, trial.reached) == ("survived", 2, 2)


def test_a_search_takes_the_workload_that_runs_the_block_most():
    counts = {None: everywhere([1], 5), "log": everywhere([2, 3], 50)}
    processes = Scripted({3: "property"})
    trial = Searches(processes, SeedOrder(counts), 30.0, Path(), LIMIT_S).run(CANDIDATE)
    assert processes.asked == [[2, 3]]
    assert processes.arguments[-2:] == ["--workload", "log"]
    assert (trial.workload, trial.reached) == ("log", 3)


def test_a_search_goes_on_with_the_other_workloads():
    counts = {None: everywhere([1], 5), "log": everywhere([2, 3], 50), "acls": everywhere([4], 0)}
    processes = Scripted({})
    trial = Searches(processes, SeedOrder(counts), 30.0, Path(), LIMIT_S).run(CANDIDATE)
    assert processes.asked == [[2, 3], [1]]
    assert "--workload" not in processes.arguments
    assert (trial.result, trial.searched, trial.reached) == ("survived", 3, 3)
    found = Searches(Scripted({1: "property"}), SeedOrder(counts), 30.0, Path(), LIMIT_S)
    assert found.run(CANDIDATE).workload is None


def test_a_mutant_of_code_that_never_runs_is_not_searched():
    trial, asked = run({}, everywhere([1, 2], 0))
    assert asked == []
    assert (trial.result, trial.reached, trial.cpu_seconds) == ("not reached", 0, 0.0)
    reaching = Searches(Scripted({}), SeedOrder({None: everywhere([1], 1)}), 30.0, Path(), LIMIT_S)
    assert not reaching.is_spent(trial)  # seeds recorded later may run the code


@pytest.mark.parametrize(
    ("kind", "by"), [("property", "LogMatching"), ("assertion", "KeyError in f")]
)
def test_a_property_or_an_assertion_kills(kind, by):
    trial, _ = run({2: kind}, everywhere([1, 2, 3], 1))
    assert (trial.result, trial.by, trial.seed, trial.cpu_seconds) == (kind, by, 2, 4.0)


def test_a_search_goes_on_behind_a_crash():
    trial, asked = run({1: "crash", 3: "property"}, everywhere([1, 2, 3], 1))
    assert asked == [[1, 2, 3], [2, 3]]
    assert (trial.result, trial.seed, trial.searched) == ("property", 3, 3)


def test_two_crashes_are_enough():
    trial, asked = run({1: "crash", 2: "crash", 3: "property"}, everywhere([1, 2, 3], 1))
    assert asked == [[1, 2, 3], [2, 3]]
    assert (trial.result, trial.by, trial.seed) == ("crash", "KeyError in f", 2)


def test_an_endless_loop_is_a_crash():
    trial, _ = run({1: "hung"}, everywhere([1], 1))
    assert (trial.result, trial.by) == ("crash", HUNG)


def test_the_unchanged_node_must_pass_a_seed():
    counts = everywhere([1, 2], 1)
    counts[0]["verdict"] = "invalid"
    _, asked = run({}, counts)
    assert asked == [[2]]


def test_results_are_read_again(tmp_path):
    path = tmp_path / "results.jsonl"
    assert read_results(path) == {}
    trial, _ = run({2: "property"}, everywhere([1, 2], 1))
    append_result(path, trial)
    assert read_results(path) == {trial.mutant: trial}
    path.write_text('{"mutant": 3}\n')
    with pytest.raises(UsageError, match="line 1 is no result"):
        read_results(path)


def test_a_survivor_of_a_smaller_budget_is_searched_again():
    trial, _ = run({}, everywhere(range(3), 1), budget_s=5.0)
    spent = {"processes": Scripted({}), "order": SeedOrder({None: []}), "files": Path()}
    spent["time_limit_s"] = LIMIT_S
    assert Searches(**spent, budget_s=30.0).is_spent(trial)  # each reaching seed ran
    partly = type(trial)(**{**fields(trial), "searched": 1})
    assert Searches(**spent, budget_s=5.0).is_spent(partly)
    assert not Searches(**spent, budget_s=30.0).is_spent(partly)


def fields(trial):
    return {name: getattr(trial, name) for name in type(trial).__dataclass_fields__}


def test_the_section_counts_what_is_not_equivalent(tmp_path):
    killed, _ = run({1: "property"}, everywhere([1], 1))
    survivor, _ = run({}, everywhere([1], 1))
    review = tmp_path / "review.md"
    review.write_text(
        f"| mutant | verdict |\n|---|---|\n| `{survivor.mutant}` | equivalent | x |\n"
    )
    unreached, _ = run({}, everywhere([1], 0))
    unreached = type(unreached)(**{**fields(unreached), "mutant": "shell.a-constant-01234567"})
    trials = [killed, survivor, unreached]
    text = section(trials, read_review(review), "kraftproof mutate", "2026-11-25")
    assert "1 of 2 mutants that are not equivalent (50 %)" in text
    assert "1 of 1 of these whose code a recorded seed runs (100 %)" in text
    rows = {line.split(" | ")[0]: line.split(" | ")[1:] for line in text.splitlines()}
    assert rows["| core.raft"] == ["3", "1", "0", "0", "0", "1", "1 |"]
    assert totals([killed, survivor]).startswith("2 mutants: 1 property, 0 assertion, 0 crash, 1 ")
    page = "# Scoreboard\n\n## Generated mutants\nold\n\n## Other\nkept\n"
    assert with_section(page, text).endswith("\n## Other\nkept\n")
    assert "old" not in with_section(page, text)


def test_an_unknown_verdict_is_refused(tmp_path):
    review = tmp_path / "review.md"
    review.write_text("| `core.a-constant-01234567` | fine | x |\n")
    with pytest.raises(UsageError, match="one of equivalent, unreachable, gap"):
        read_review(review)


def test_the_workloads_take_turns_after_the_first_seeds():
    counts = {None: everywhere(range(8), 1), "log": everywhere([11, 12, 13], 50)}
    counts["acls"] = everywhere([21], 1)
    processes = Scripted({})
    Searches(processes, SeedOrder(counts), 60.0, Path(), LIMIT_S).run(CANDIDATE)
    assert processes.asked == [[11, 12, 13], [0, 1], [21], [2, 3], [4, 5], [6, 7]]
    counts = {None: everywhere(range(8), 50), "log": everywhere([11, 12, 13], 1)}
    processes = Scripted({})
    Searches(processes, SeedOrder(counts), 60.0, Path(), LIMIT_S).run(CANDIDATE)
    assert processes.asked == [[0, 1, 2, 3], [11, 12], [4, 5], [13], [6, 7]]


def test_an_invariant_and_a_comment_leave_the_recorded_counts_valid(tmp_path, monkeypatch):
    monkeypatch.setattr(seed_order, "PACKAGE", tmp_path)
    node, judge = tmp_path / "node", tmp_path / "cluster/simulated/invariants"
    judge.mkdir(parents=True)
    node.mkdir()
    (node / "a.py").write_text('"""A."""\nA = 1\n')
    (judge / "b.py").write_text("B = 1\n")
    first = seed_order.version()
    (judge / "b.py").write_text("B = 2\n")
    (node / "a.py").write_text('"""Another text."""\nA = 1  # one\n')
    assert seed_order.version() == first
    (node / "a.py").write_text("A = 2\n")
    assert seed_order.version() != first
