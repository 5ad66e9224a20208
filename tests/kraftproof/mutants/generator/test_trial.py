"""A search for a generated mutant: its order of seeds, and what kills the mutant."""

import json
from pathlib import Path

import pytest

from kraftproof.errors import UsageError
from kraftproof.mutants.blocks import block_at
from kraftproof.mutants.generator import seed_order
from kraftproof.mutants.generator.candidates import read_sources
from kraftproof.mutants.generator.results import append_result, read_results, totals
from kraftproof.mutants.generator.review import read_review, section, with_section
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.seed_order import SeedOrder
from kraftproof.mutants.generator.trial import HUNG, Searches
from kraftproof.mutants.run_order import NEW_SEEDS
from kraftproof.mutants.sim_processes import SearchCrashedError, SearchHungError

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
        runs = arguments[arguments.index("--runs") + 1].split(",")
        self.asked.append([one for one in runs if int(one.partition(":")[0]) not in NEW_SEEDS])
        found = []
        for run in runs:
            seed = int(run.partition(":")[0])
            found.append(seed)
            if self.kinds.get(seed) == "hung":
                raise SearchHungError(subject)
            if self.kinds.get(seed) == "outside":
                raise SearchCrashedError("ValueError: byte must be in range(0, 256)")
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
    assert asked == [["2::20", "1::20", "2::60", "1::60"]]
    assert (trial.result, trial.reached) == ("survived", 2)
    assert trial.searched == 4 + len(NEW_SEEDS)


def test_each_fourth_run_has_its_full_length():
    _, asked = run({}, everywhere(range(5), 1))
    lengths = [one.rpartition(":")[2] for one in asked[0]]
    assert lengths == ["20", "20", "20", "60", "20", *["60"] * 4]


def test_a_search_names_the_workload_and_the_length_of_its_find():
    counts = {None: everywhere([1], 5), "log": everywhere([2, 3], 50), "acls": everywhere([4], 0)}
    processes = Scripted({3: "property"})
    trial = Searches(processes, SeedOrder(counts), 30.0, Path(), LIMIT_S).run(CANDIDATE)
    assert processes.asked == [["2:log:20", "1::20", "3:log:20", "2:log:60", "1::60", "3:log:60"]]
    assert (trial.workload, trial.time_limit_s, trial.reached) == ("log", 20, 3)
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
    full = ["1::60", "2::60", "3::60"]
    assert asked == [["1::20", "2::20", "3::20", *full], ["2::20", "3::20", *full]]
    assert (trial.result, trial.seed, trial.searched) == ("property", 3, 3)


def test_two_crashes_are_enough():
    trial, asked = run({1: "crash", 2: "crash", 3: "property"}, everywhere([1, 2, 3], 1))
    assert [len(runs) for runs in asked] == [6, 5]  # and the new seeds
    assert (trial.result, trial.by, trial.seed) == ("crash", "KeyError in f", 2)


def test_an_endless_loop_is_a_crash():
    trial, _ = run({1: "hung"}, everywhere([1], 1))
    assert (trial.result, trial.by) == ("crash", HUNG)


def test_code_outside_of_the_node_may_fail_on_an_edit():
    """The clients encode by the node's code; a draw of 400 edits ended at edit 219."""
    trial, asked = run({1: "outside"}, everywhere([1, 2], 1))
    assert (trial.result, trial.by, trial.seed) == ("crash", "ValueError outside of the node", None)
    assert len(asked) == 1


def test_the_unchanged_node_must_pass_a_seed():
    counts = everywhere([1, 2], 1)
    counts[0]["verdict"] = "invalid"
    _, asked = run({}, counts)
    assert asked == [["2::20", "2::60"]]


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
    trial, _ = run({}, everywhere(range(3), 1))
    spent = {"processes": Scripted({}), "order": SeedOrder({None: []}), "files": Path()}
    spent["time_limit_s"] = LIMIT_S
    partly = type(trial)(**{**fields(trial), "cpu_seconds": 5.5})
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


def counted(seed, counts):
    """Counts of a seed that runs some blocks of the module."""
    blocks = {str(block): runs for block, runs in counts.items()}
    return {"seed": seed, "verdict": "valid", "cpu_seconds": 1.0, "blocks": {MODULE: blocks}}


def test_where_no_recorded_run_reaches_the_block_long_runs_of_the_function_may():
    source = CANDIDATE.source
    edited = block_at(source.text, CANDIDATE.line)
    (other, *_) = [block for _, block in seed_order._function_blocks(CANDIDATE) if block != edited]
    counts = [counted(1, {other: 1}), counted(2, {edited + 50: 9})]
    trial, asked = run({}, counts)
    assert asked == [["1::60"]]
    assert (trial.result, trial.reached) == ("not reached", 0)
    trial, _ = run({1: "property"}, counts)
    assert (trial.result, trial.reached) == ("property", 0)


class Failing:
    """Processes that record seeds, of which one violates a property."""

    def __init__(self):
        self.asked = []

    def run(self, arguments, subject, limit_s=0):
        first, end = map(int, arguments[arguments.index("--seeds") + 1].split(":"))
        self.asked.append((first, end))
        done = [seed for seed in range(first, end) if seed <= 10_001 or first > 10_001]
        lines = [counted(seed, {0: 1}) for seed in done]
        lines = [one | {"verdict": "invalid"} if one["seed"] == 10_001 else one for one in lines]
        file = Path(arguments[arguments.index("--blocks") + 1])
        file.write_text("".join(json.dumps(one) + "\n" for one in lines))
        broken = [{"seed": 10_001, "invariant": "LogMatching"}] if 10_001 in done else []
        return result(done, broken)


def test_a_recording_goes_on_behind_a_seed_that_the_unchanged_node_fails(tmp_path, capsys):
    processes = Failing()
    lines = list(seed_order._recorded(tmp_path, 4, 20.0, processes, None))
    assert processes.asked == [(10_000, 10_004), (10_002, 10_004)]
    assert [json.loads(line)["seed"] for line in lines] == [10_000, 10_001, 10_002, 10_003]
    assert "seed 10001 of the unchanged node violates LogMatching" in capsys.readouterr().err


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
