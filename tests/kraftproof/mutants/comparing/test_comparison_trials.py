"""Edits are tried against comparisons alone: found, survived, not reached, ill-typed or hung."""

import json
from itertools import islice

import pytest

from kraftproof.mutants.comparing import comparison_trials
from kraftproof.mutants.comparing.comparison_trials import ComparisonTrials, record_draws
from kraftproof.mutants.generator.candidates import Candidate, read_sources
from kraftproof.mutants.generator.files import mutant_path, write_mutant
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.source import Replacement
from kraftproof.mutants.sim_processes import SimProcesses
from kraftproof.run.backends import specification_of
from tests.support.command import KRAFTPROOF, ROOT, run

QUOTAS = ROOT / "kraftproof/node/core/quotas"
pytestmark = pytest.mark.simulation


class Types:
    """A check of types that rejects one text: mypy takes half a minute to start."""

    def error_of(self, mutant):
        return "wrong" if "len(None)" in mutant.edits[0].new else None


@pytest.fixture(scope="module")
def processes():
    started = SimProcesses()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def source():
    (found,) = read_sources([QUOTAS / "rate.py"])
    return found


@pytest.fixture(scope="module")
def recorded(processes, source):
    found = record_draws([source], 3, specification_of, processes)
    assert {one.draw.comparison for one in found} == {"compare_quotas", "compare_exempt_requests"}
    return found


@pytest.fixture
def trials(processes, recorded, tmp_path):
    return ComparisonTrials(
        *(processes, recorded, specification_of, Types()), budget_s=20, files=tmp_path
    )


def edited(source, old, new):
    """An edit of the text that occurs first."""
    start = source.text.index(old)
    replacement = Replacement(start=start, end=start + len(old), text=new)
    return Candidate(source=source, operator="by-hand", replacement=replacement)


def test_an_edit_that_changes_results_is_found(trials, source):
    trial = trials.run(edited(source, "return ", "return 2 * "))
    assert (trial.result, trial.by) == ("property", "quotas")
    assert trial.workload == "comparisons"
    assert trial.cpu_seconds > 0


def test_an_edit_without_effect_survives_and_has_a_file(trials, source, tmp_path):
    chosen = edited(source, "return ", "return 1 * ")
    trial = trials.run(chosen)
    assert (trial.result, trial.by) == ("survived", None)
    assert trial.searched == trial.reached > 0
    assert mutant_path(trial.mutant, tmp_path).is_file()
    assert not trials.is_spent(trial)


def test_an_edit_that_fails_at_the_import_is_a_crash(trials, source):
    trial = trials.run(edited(source, "\nclass ", "\n1 / 0\n\n\nclass "))
    assert (trial.result, trial.by) == ("crash", "ZeroDivisionError")


def test_a_survivor_with_a_type_error_is_a_crash(trials, source):
    trial = trials.run(edited(source, '"""', '"""len(None)'))
    assert (trial.result, trial.by) == ("crash", "a type error")


def test_an_edit_without_an_end_is_a_crash(trials, source, monkeypatch):
    monkeypatch.setattr(comparison_trials, "HARD_S", 1)
    trials._budget_s = 1
    loop = "[0 for _ in iter(int, 1)] and "
    trial = trials.run(edited(source, "return ", f"return {loop}"))
    assert (trial.result, trial.by) == ("crash", "an endless loop")


def test_an_assertion_of_the_node_is_none_of_a_comparison(trials, source):
    trial = trials.run(edited(source, "self._forget(now)", "assert now is None, 'a contract'"))
    assert (trial.result, trial.by) == ("assertion", "quotas")


@pytest.mark.long
def test_the_command_lists_survivors(tmp_path, source):
    """The files are there already, so that no type check is needed."""

    chosen = list(islice(draw([source], 0), 6))
    for one in chosen:
        write_mutant(one, tmp_path)
    arguments = [QUOTAS / "rate.py", "--comparisons-only", "--count", "6", "--draws", "2"]
    arguments += ["--store", tmp_path, "--json"]
    done = run(KRAFTPROOF, "mutate", *arguments, timeout=300)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["mutant"] for one in found] == [one.mutant().mutant_id for one in chosen]
    assert {one["by"] for one in found if one["result"] == "property"} == {"quotas"}
