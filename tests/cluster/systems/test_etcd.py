"""examples/etcd: real etcd is valid under faults, and each workload finds what its clients lose."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof import cli

ROOT = Path(__file__).resolve().parents[3]
ETCD = f"{ROOT}/examples/etcd/system.py:Etcd"
BROKEN = """
import sys
sys.path.insert(0, {folder!r})
import etcd_clients
from system import Etcd

class Broken(Etcd):
    '''Clients that replace values without a look at what has changed since they read.'''

    name = "broken"

    def client(self, cluster, workload, random):
        client = super().client(cluster, workload, random)
        replace = client.replace
        client.replace = lambda revisions, values: replace({{}}, values)
        return client
"""


def run(store, *arguments):
    command = (sys.executable, "-m", "kraftproof", "test", "--json", "--store", str(store))
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode in {0, 1, 2}, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.docker
def test_registers_of_etcd_are_valid_under_kill_pause_and_partition(tmp_path):
    found = run(
        tmp_path,
        *("--system", ETCD, "--backend", "docker", "--workload", "register"),
        *("--nemesis", "kill,pause,partition"),
        *("--time-limit", "22", "--fault-every", "5", "--min-bites", "1"),
    )
    assert found["verdict"] == "valid", found["why"]
    assert set(found["bitten"]) == {"kill", "pause", "partition"}
    assert found["ok_in_faults"] > 20
    [told] = Path(found["run"]).glob("nodes/1/output.log")
    assert "3.5.16" in told.read_text()


@pytest.mark.docker
@pytest.mark.parametrize("workload", ["append", pytest.param("bank", marks=pytest.mark.long)])
def test_clients_that_do_not_compare_are_found(workload, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(BROKEN.format(folder=str(ROOT / "examples/etcd")))
    found = run(
        tmp_path / "store",
        *("--system", f"{path}:Broken", "--backend", "docker", "--workload", workload),
        *("--nemesis", "none", "--time-limit", "4", "--rate", "200"),
    )
    assert found["verdict"] == "invalid", str(found)


@pytest.mark.docker
@pytest.mark.long
@pytest.mark.parametrize("workload", ["set", "counter", "append", "lock", "bank"])
def test_the_other_workloads_on_etcd_are_valid_under_faults(workload, tmp_path):
    found = run(
        tmp_path,
        *("--system", ETCD, "--backend", "docker", "--workload", workload),
        *("--nemesis", "kill,pause,partition"),
        *("--time-limit", "24", "--fault-every", "5", "--min-bites", "1"),
    )
    assert found["verdict"] == "valid", found["why"]


@pytest.mark.docker
@pytest.mark.long
def test_a_release_that_go_builds_is_valid_on_docker(tmp_path):
    found = run(
        tmp_path,
        *("--system", ETCD, "--system-version", "3.6.12", "--backend", "docker"),
        *("--workload", "register", "--nemesis", "kill,pause"),
        *("--time-limit", "16", "--fault-every", "5", "--min-bites", "1"),
    )
    assert found["verdict"] == "valid", found["why"]
    assert "3.6.12" in (Path(found["run"]) / "nodes/1/output.log").read_text()


def refused(arguments, capsys):
    status = cli.run(["test", "--system", ETCD, "--workload", "register", *arguments, "--dry-run"])
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return status, said.strip().splitlines()[-1]


def test_a_machine_without_etcd_is_told_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert refused((), capsys) == (
        3,
        "kraftproof: --backend local: there is no etcd on PATH; install it, or let Go build a "
        "release: --system-version 3.6.12",
    )


@pytest.mark.parametrize("version", ["banana", "3.6", "v3.6.12", "2.3.8"])
def test_what_is_no_release_of_etcd_is_refused(version, capsys):
    assert refused(("--system-version", version), capsys) == (
        3,
        f"kraftproof: --system-version {version}: a release of etcd from 3.5.0 on is expected, "
        "for example 3.6.12",
    )


@pytest.mark.parametrize("backend", ["local", "docker"])
@pytest.mark.parametrize("kind", ["clock", "clock-strobe", "clock-drift"])
def test_a_run_with_faults_of_clocks_is_planned(kind, backend, capsys):
    faults = ["--backend", backend, "--workload", "register", "--nemesis", kind]
    release = ["--system-version", "3.6.12", "--time-limit", "60"]
    assert cli.run(["test", "--system", ETCD, *release, *faults, "--dry-run"]) == 0
    assert "clock of node " in capsys.readouterr().out


@pytest.mark.docker
@pytest.mark.long
def test_a_release_is_valid_with_a_clock_that_moves(tmp_path):
    found = run(
        tmp_path,
        *("--system", ETCD, "--system-version", "3.6.12", "--backend", "docker"),
        *("--workload", "register", "--nemesis", "kill,clock,clock-strobe"),
        *("--time-limit", "24", "--fault-every", "5", "--min-bites", "1"),
    )
    assert found["verdict"] == "valid", found["why"]
    assert set(found["bitten"]) == {"kill", "clock", "clock-strobe"}
