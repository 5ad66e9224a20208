"""Runs in simulation: each nemesis alone under both workloads; guards, schedules, exit codes."""

import json

import pytest

from kraftproof import cli
from kraftproof.cluster.protocol import LIVE_ONLY, Capability
from kraftproof.nemesis.catalogue import nemesis_names, ours
from tests.support.long_cases import mostly_long

pytestmark = pytest.mark.simulation

SHORT = ("--backend", "simulated", "--engine", "inline", "--nodes", "3+1", "--rate", "10")


def each_nemesis_under_each_workload():
    """Return the pairs. `make test` has every fourth nemesis, half of them under each workload.

    The others are applied and healed, and bite, in tests/nemesis/test_every_fault.py.
    """
    kinds, workloads = ours(), ("topics", "registration")
    apart = LIVE_ONLY | {Capability.FAILED_DIRECTORY}  # the workloads here keep no records
    names = [name for name in nemesis_names() if kinds[name].requires not in apart]
    pairs = [(workload, nemesis) for workload in workloads for nemesis in names]
    quick = [
        f"{workload}-{nemesis}"
        for workload, nemesis in pairs
        if names.index(nemesis) % 8 == 4 * workloads.index(workload)
    ]
    return mostly_long([(f"{pair[0]}-{pair[1]}", pair) for pair in pairs], quick)


@pytest.mark.parametrize(("workload", "nemesis"), each_nemesis_under_each_workload())
def test_a_nemesis_alone_bites_and_the_run_is_valid(kraftproof_run, workload, nemesis):
    run = kraftproof_run(
        backend="simulated",
        workload=workload,
        nemesis=nemesis,
        nodes="3+2" if nemesis == "wipe" else "3+1",  # a lone broker that is wiped serves nobody
        rate=20.0,
        concurrency=8,
        time_limit_s=20.0,
        seed=1,
    )
    assert run.verdict == "valid", run.why
    assert dict(run.figures.bitten)[nemesis] >= 2
    assert run.figures.failed == 0


def kraftproof(capsys, *arguments):
    status = cli.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err


def test_the_schedule_is_the_seeds(capsys):
    arguments = ("test", "--dry-run", "--engine", "inline", "--nemesis", "kill,pause,restart")
    _, first, _ = kraftproof(capsys, *arguments, "--seed", 3, "--time-limit", 60)
    _, second, _ = kraftproof(capsys, *arguments, "--seed", 3, "--time-limit", 60)
    _, other, _ = kraftproof(capsys, *arguments, "--seed", 4, "--time-limit", 60)
    assert first == second
    assert first != other
    assert len(first) >= 6


def test_a_vacuous_run_is_unknown_and_is_told_so_beforehand(capsys, tmp_path):
    status, out, err = kraftproof(
        capsys, "test", *SHORT, "--nemesis", "kill", "--time-limit", 3, "--store", tmp_path
    )
    assert status == 2
    assert out[-1].startswith("unknown  ")
    assert "  kill: 1 fault has bitten, at least 2 are needed" in out
    assert "kill is planned once, which can't give a valid verdict" in err


def test_a_valid_run_ends_with_its_verdict_and_figures(capsys, tmp_path):
    status, out, err = kraftproof(
        capsys, "test", *SHORT, "--nemesis", "none", "--time-limit", 3, "--store", tmp_path
    )
    assert status == 0
    (line,) = out
    assert line.startswith("valid  ")
    assert line.endswith("report.html")
    assert " ok (" in line
    assert "checking with the inline engine" in err


def test_json_is_one_object(capsys, tmp_path):
    _, out, _ = kraftproof(
        capsys,
        *("test", *SHORT, "--nemesis", "none", "--time-limit", 3, "--json", "--store", tmp_path),
    )
    (line,) = out
    found = json.loads(line)
    assert found["verdict"] == "valid"
    assert found["ok"] > 0
    assert found["why"] == []


def test_a_search_without_a_violation_exits_with_0(capsys, tmp_path):
    status, out, _ = kraftproof(
        capsys, "sim", "--seeds", "0:1", "--time-limit", 2, "--store", tmp_path, "--json"
    )
    assert status == 0
    summary = json.loads(out[-1])
    assert summary["seeds"] == 1
    assert summary["violations"] == []
    assert not list(tmp_path.iterdir())
