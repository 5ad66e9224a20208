"""examples/redis: valid without faults; a primary that is cut off loses acknowledged writes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof import cli

ROOT = Path(__file__).resolve().parents[3]
REDIS = f"{ROOT}/examples/redis/system.py:Redis"


def run(store, *arguments):
    command = (sys.executable, "-m", "kraftproof", "test", "--json", "--backend", "docker")
    done = subprocess.run(
        [*command, "--system", REDIS, "--store", str(store), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in {0, 1, 2}, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.docker
def test_a_primary_that_is_cut_off_loses_writes(tmp_path):
    found = run(
        tmp_path,
        *("--workload", "register", "--nemesis", "isolate"),
        *("--time-limit", "24", "--fault-every", "15", "--min-bites", "1"),
    )
    assert found["verdict"] == "invalid", str(found)
    assert found["bitten"] == {"isolate": 1}
    why = [one for one in found["why"] if one.startswith("cas-register/linearizable")]
    assert any("no operation set the value back" in one for one in why)
    assert all("isolate of node" in one for one in why)


@pytest.mark.docker
@pytest.mark.long
@pytest.mark.parametrize("workload", ["set", "queue", "counter"])
def test_the_other_workloads_find_the_loss_too(workload, tmp_path):
    found = run(
        tmp_path,
        *("--workload", workload, "--nemesis", "isolate"),
        *("--time-limit", "24", "--fault-every", "15", "--min-bites", "1"),
    )
    assert found["verdict"] == "invalid", str(found)


@pytest.mark.docker
@pytest.mark.long
@pytest.mark.parametrize("workload", ["register", "set", "queue", "counter"])
def test_without_faults_redis_is_valid(workload, tmp_path):
    found = run(tmp_path, *("--workload", workload, "--nemesis", "none", "--time-limit", "6"))
    assert found["verdict"] == "valid", str(found)


def test_redis_runs_in_containers_only(capsys):
    arguments = ["test", "--system", REDIS, "--workload", "register", "--dry-run"]
    assert cli.run(arguments) == 3
    said = capsys.readouterr().err.strip()
    assert said == "kraftproof: --backend local: the system redis runs only on docker, ssh"
