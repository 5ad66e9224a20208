"""The node agrees with the references, and each planted bug is a difference."""

import errno
import random
from collections import Counter
from types import SimpleNamespace

import pytest

from kraftproof.cluster.plugin import HarnessError
from kraftproof.cluster.simulated.differential import comparison, draws
from kraftproof.cluster.simulated.differential.catalogue import COMPARISONS, comparisons_with
from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    attempt,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import flush
from kraftproof.cluster.simulated.differential.storage.partitions.logs import LOGS, PartitionRun
from kraftproof.cluster.simulated.differential.wire.error_texts import judge_numbers
from kraftproof.node.storage.partitions import (
    recovery,
)
from kraftproof.node.storage.segments.segmented_log import SegmentedLog
from kraftproof.run.backends import specification_of
from tests.cluster.simulated.differential import planted_gaps
from tests.cluster.simulated.differential.planted import PLANTED
from tests.support.random_cases import random_cases

pytestmark = pytest.mark.simulation
DRAWS = 30
REAL_DISK = "compare_real_disk"
"""Waits for a real disk: a few draws in `make test`, all in `make test-long`."""
MOST_DRAWS = 200
BY_NAME = {one.compare.__name__: one for one in COMPARISONS}


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_the_node_agrees_with_its_reference(name):
    for seed in range(DRAWS if name != REAL_DISK else random_cases(DRAWS, share=4)):
        BY_NAME[name].compare(random.Random(f"{name} {seed}"))


def start_above_the_high_watermark():
    """Start with more batches above the high watermark than a producer keeps."""
    run, log = PartitionRun(random.Random("producers")), LOGS[0]
    run.create(log)
    for _ in range(80):
        run.append(log, run.models[log])
    flush(run, log, run.models[log])
    run.start_again()


def test_the_producers_of_a_start_are_the_committed_ones_and_those_above(monkeypatch):
    start_above_the_high_watermark()
    last = recovery._Recovery
    monkeypatch.setattr(last, "producer_batches", lambda self: self._log.producers.batches())
    with pytest.raises(DifferenceError, match="the producers of the log"):
        start_above_the_high_watermark()


@pytest.mark.parametrize(("name", "owner", "attribute", "bug"), [*PLANTED, *planted_gaps.PLANTED])
def test_a_planted_bug_is_a_difference(monkeypatch, name, owner, attribute, bug):
    monkeypatch.setattr(owner, attribute, bug)
    assert any(fails_at(name, seed) for seed in range(MOST_DRAWS))


def fails_at(name, seed):
    """Return whether a comparison fails; a run reports every error that is no assertion."""
    try:
        BY_NAME[name].compare(random.Random(f"{name} {seed}"))
    except Exception:  # noqa: BLE001 - see comparison.py
        return True
    return False


def test_differences_name_both_results():
    with pytest.raises(DifferenceError, match="a sum: 3, the reference has 4"):
        same("a sum", 3, 4)
    with pytest.raises(DifferenceError, match="accepted as 5"):
        refused("text", ValueError, int, "5")
    with pytest.raises(DifferenceError, match="TypeError"):
        attempt(ValueError, int, None)
    with pytest.raises(DifferenceError, match="does not name /a"):
        named("a file", "the file is damaged", "/a")
    same("no number", float("nan"), float("nan"))
    assert "invalid" in refused("letters", ValueError, int, "x")


@pytest.mark.parametrize(
    ("text", "size", "is_true"),
    [
        ("a length of 9 at byte 2, where 4 remain", 6, True),
        ("a length of 9 at byte 2, where 5 remain", 6, False),
        ("a length of 3 at byte 2, where 4 remain", 6, False),
        ("4 bytes expected at byte 4, of 6", 6, True),
        ("4 bytes expected at byte 2, of 6", 6, False),
        ("an array of 9 elements before byte 2, where 4 bytes remain", 6, True),
        ("an array of 9 elements before byte 3, where 4 bytes remain", 6, False),
        ("a varint cut off at byte 6", 6, True),
        ("a varint cut off at byte 5", 6, False),
        ("a varint without an end at byte 7", 6, False),
        ("a string that is not UTF-8", 6, True),
    ],
)
def test_numbers_in_errors_are_judged(text, size, is_true):
    if is_true:
        judge_numbers(text, size)
        return
    with pytest.raises(DifferenceError):
        judge_numbers(text, size)


class World:
    """The parts of a world that a comparison reports to."""

    def __init__(self):
        self.scheduler = SimpleNamespace(events=0)
        self.recorded = []
        self.errors = []
        self.monitor = SimpleNamespace(record=self._record)
        self.make_specification = None

    def _record(self, invariant, statement, detail, *, node, time_ns):
        assert statement.endswith(".")
        assert (node, time_ns) == (None, None), "no node has done so"
        self.recorded.append((invariant, detail))

    def crashed(self, node, error):
        self.errors.append((node, type(error)))


def reported(monkeypatch, compare, *, mutated=("kraftproof.node.wire",)):
    """Return what a run with a bug in some packages reports of a comparison."""
    one = comparison.Comparison("Same", "Both are the same.", ("kraftproof.node.wire",), compare)
    monkeypatch.setattr("kraftproof.cluster.simulated.differential.catalogue.COMPARISONS", (one,))
    monkeypatch.setattr(comparison, "_is_mutated", lambda package: package in mutated)
    world = World()
    comparison.compare_with_references(world, SimpleNamespace(seed=1, mutant="x"))
    return world.recorded, world.errors


def differs(_):
    raise DifferenceError("two is not one")


def fails(_):
    raise KeyError("name")


def test_a_difference_is_a_violation(monkeypatch):
    assert reported(monkeypatch, differs) == (
        [("Same", "apart from the cluster, two is not one")],
        [],
    )


def test_another_error_of_the_node_is_a_violation(monkeypatch):
    ((invariant, detail),), crashes = reported(monkeypatch, fails)
    assert (invariant, crashes) == ("Same", [])
    assert "KeyError" in detail


def test_a_failed_assertion_of_the_node_stays_one(monkeypatch):
    def asserts(_):
        SegmentedLog.close(SimpleNamespace(_segments=[SimpleNamespace(close=broken)]))

    code = compile("def broken():\n    assert False, 'a contract'", "node.py", "exec")
    scope = {"__name__": "kraftproof.node.storage.made_up"}
    exec(code, scope)
    broken = scope["broken"]
    assert reported(monkeypatch, asserts) == ([], [(0, AssertionError)])


def test_only_packages_with_a_bug_are_compared(monkeypatch):
    assert reported(monkeypatch, differs, mutated=("kraftproof.node.storage",)) == ([], [])


def test_a_comparison_for_the_end_waits_for_the_end(monkeypatch):
    one = comparison.Comparison("Same", "Both are.", ("a package",), differs, is_at_end=True)
    monkeypatch.setattr("kraftproof.cluster.simulated.differential.catalogue.COMPARISONS", (one,))
    monkeypatch.setattr(comparison, "PACKAGES", ("a package",))
    monkeypatch.setattr(comparison, "_is_mutated", lambda _: True)
    world, options = World(), SimpleNamespace(seed=1, mutant="x")
    comparison.compare_with_references(world, options)
    assert world.recorded == []
    comparison.compare_with_references(world, options, is_end=True)
    assert world.recorded == [("Same", "apart from the cluster, two is not one")]


def test_a_run_without_a_planted_bug_compares_nearly_everything():
    found, comparisons = set(), comparisons_with(specification_of)
    names = {draws.name_of(one) for one in comparisons}
    for seed in range(20):
        options = SimpleNamespace(seed=seed, mutant=None, backend="simulated")
        planned = comparison._planned(comparisons, options)
        assert planned == comparison._planned(comparisons, options)
        times = Counter(draws.name_of(one) for _, one in planned)
        assert len(set(planned)) == len(planned)
        assert len(names - times.keys()) == len(draws.RARE) - 1
        assert times == {name: draws.DRAWS.get(name, 1) for name in times}
        found |= times.keys()
    assert found == names


def compare_decisions(_):
    """Has the name of the comparison of decisions."""


def test_a_run_without_a_planted_bug_draws_as_often_as_a_comparison_says():
    one = comparison.Comparison("Same", "Both are.", ("a package",), compare_decisions)
    planned = comparison._planned((one,), SimpleNamespace(seed=1, mutant=None, backend="simulated"))
    assert planned == [(number, one) for number in range(2)]


def test_a_cluster_without_a_run_compares_nothing():
    options = SimpleNamespace(seed=1, mutant=None, backend="")
    assert comparison._planned(COMPARISONS, options) == []


def test_a_machine_without_memory_is_no_difference():
    """A fork failed in the comparison with the real disk, and the run was invalid."""

    def forks(_):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    one = comparison.Comparison("Same", "Both are.", ("a package",), forks)
    with pytest.raises(HarnessError, match=r"lacks resources .*allocate memory"):
        comparison.difference_of(one, random.Random(1))


def test_the_tables_of_draws_name_comparisons():
    names = {draws.name_of(one) for one in comparisons_with(specification_of)}
    assert draws.RARE | draws.DRAWS.keys() < names
    assert not draws.RARE & draws.DRAWS.keys()


def test_a_run_without_a_planted_bug_reports_a_difference(monkeypatch):
    one = comparison.Comparison("Same", "Both are the same.", ("a package",), differs)
    monkeypatch.setattr("kraftproof.cluster.simulated.differential.catalogue.COMPARISONS", (one,))
    world = World()
    comparison.compare_with_references(
        world, SimpleNamespace(seed=1, mutant=None, backend="simulated")
    )
    assert world.recorded == [("Same", "apart from the cluster, two is not one")]
