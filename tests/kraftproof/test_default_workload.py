"""Without a workload, a run, `up` and the fixtures take the first that the system declares."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof.cluster.systems.registry import make_system
from kraftproof.options import RunOptions
from kraftproof.run import planning
from tests.support.command import call

EXAMPLES = Path(__file__).parents[2] / "examples"
KV = f"{EXAMPLES}/kv/system.py:KV"


@pytest.mark.parametrize(
    ("system", "workload"),
    [
        (KV, "register"),
        (f"{EXAMPLES}/etcd/system.py:Etcd", "register"),
        (f"{EXAMPLES}/redis/system.py:Redis", "register"),
        ("reference", "topics"),
        ("apache-kafka", "topics"),
        ("mixed", "topics"),
    ],
)
def test_the_first_declared_workload_is_the_default(system, workload):
    assert planning.default_workload(make_system(system)) == workload


def test_a_system_that_declares_no_workload_keeps_that_of_the_options():
    kind = type(make_system(KV))
    silent = type("Silent", (kind,), {"workloads": ()})()
    assert planning.default_workload(silent) == RunOptions().workload


def test_a_run_takes_the_default_workload(tmp_path):
    options = ("--system", KV, "--nemesis", "kill", "--dry-run", "--store", tmp_path)
    done = call("test", *options)
    assert (done.returncode, done.stderr.count("kraftproof: --workload")) == (0, 0), done.stderr
    assert "kill" in done.stdout


def test_up_starts_a_system_without_topics(runtime):
    command = [sys.executable, "-m", "kraftproof", "up", "--system", KV, "--nodes", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        addresses = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert addresses.count(":") == 2, process.stderr.read()


def test_the_fixture_starts_a_system_without_topics(kraftproof_cluster, runtime):
    cluster = kraftproof_cluster(system=KV, nodes="2", backend="local")
    assert len(cluster.nodes) == 2
    cluster.kill(1)
    cluster.start_node(1)
    cluster.wait_until_ready()


def test_a_run_of_the_fixture_takes_the_default_workload(kraftproof_run, runtime):
    result = kraftproof_run(
        system=KV, nodes="1", backend="local", nemesis="pause", time_limit_s=1, min_bites=0
    )
    recorded = json.loads((result.directory.path / "run.json").read_text(encoding="utf-8"))
    assert recorded["options"]["workload"] == "register"
    assert result.figures.ok > 0
