"""The local backend: whole runs, and nothing left behind by a harness that is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraftproof.cluster.local import ownership, ports
from kraftproof.cluster.local.ownership import RunFile
from kraftproof.cluster.processes import Identity, identify, state_of
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.sync_cluster import cluster_of


def test_two_runs_never_lease_the_same_port(runtime, tmp_path):
    first = ports.lease("first", tmp_path, 6)
    second = ports.lease("second", tmp_path, 6)
    assert not set(first.ports) & set(second.ports)
    ports.release(first)
    third = ports.lease("third", tmp_path, 6)
    assert third.ports == first.ports


def test_runs_that_do_not_see_each_others_leases_begin_at_other_ports():
    first, second = (list(ports.in_order(Path(f"/run/user/{user}/kraftproof"))) for user in (1, 2))
    assert sorted(first) == sorted(second) == list(range(ports.FIRST_PORT, ports.LAST_PORT + 1))
    assert not set(first[:100]) & set(second[:100])


def test_a_sweep_ends_what_a_dead_owner_left_and_nothing_else(runtime):
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    mine, orphan = subprocess.Popen(sleeper), subprocess.Popen(sleeper)
    try:
        me = identify(os.getpid())
        dead = Identity(boot=me.boot, pid=me.pid, start_time=me.start_time - 1)
        recycled = Identity(boot=me.boot, pid=mine.pid, start_time=1)
        with ownership.locked() as directory:
            processes = (identify(orphan.pid), recycled)
            ownership.write_run(
                directory, RunFile(run="dead", directory="d", owner=dead, processes=processes)
            )
            living = RunFile(run="living", directory="d", owner=me, processes=(identify(mine.pid),))
            ownership.write_run(directory, living)
        (line,) = ownership.sweep()
        assert "dead" in line
        assert orphan.wait(10) == -signal.SIGKILL
        assert mine.poll() is None
        with ownership.locked() as directory:
            assert [run.run for run in ownership.read_runs(directory)] == ["living"]
    finally:
        for process in (mine, orphan):
            process.kill()
            process.wait()


def test_a_directory_that_others_may_write_is_refused(runtime):
    ownership.runtime_directory().chmod(0o777)
    with pytest.raises(PermissionError, match="must belong to you alone"):
        ownership.runtime_directory()


@pytest.mark.long
def test_a_cluster_survives_kill_and_pause(kraftproof_cluster):
    kraftproof_cluster.kill(1)
    kraftproof_cluster.pause(2)
    assert kraftproof_cluster.drive(kraftproof_cluster.cluster.is_paused(2))
    kraftproof_cluster.resume(2)
    kraftproof_cluster.start_node(1)
    kraftproof_cluster.wait_until_ready()
    assert kraftproof_cluster.bootstrap().count(":") == 3


@pytest.mark.requirement("595-62")
def test_a_broker_of_another_cluster_says_so_in_one_line_and_ends(kraftproof_cluster):
    cluster = kraftproof_cluster(nodes="1+1")
    files = cluster.cluster.node_files(2)
    cluster.kill(2)
    (files / "output.log").unlink()
    (meta,) = files.glob("data/meta.properties")
    own = meta.read_text().partition("cluster.id=")[2].split()[0]
    meta.write_text(meta.read_text().replace(own, "A" * 21 + "Q"))
    (state,) = files.glob("data/__cluster_metadata-0/quorum-state")
    state.unlink()
    cluster.start_node(2)
    process_id = cluster.cluster.process_id
    deadline = time.monotonic() + 20
    while cluster.drive(process_id(2)) is not None:
        assert time.monotonic() < deadline, (files / "output.log").read_text()
        cluster.drive(cluster.cluster.scope.sleep(50_000_000))
    _, line = (files / "output.log").read_text().splitlines()
    assert line.startswith("kraft-node: ")
    assert "cluster" in line


@pytest.mark.long
def test_a_node_whose_port_a_fault_has_taken_says_so_and_starts_when_the_port_is_free(
    kraftproof_cluster,
):
    cluster, drive = kraftproof_cluster.cluster, kraftproof_cluster.drive
    kraftproof_cluster.kill(3)
    taken = drive(cluster.take_port(3))
    kraftproof_cluster.start_node(3)
    deadline = time.monotonic() + 20
    while drive(cluster.process_id(3)) is not None:
        assert time.monotonic() < deadline
        drive(cluster.scope.sleep(50_000_000))
    assert taken.partition(":")[2] in drive(cluster.last_words(3))
    assert "address already in use" in drive(cluster.last_words(3))
    drive(cluster.free_port(3))
    kraftproof_cluster.start_node(3)
    kraftproof_cluster.wait_until_ready()
    drive(cluster.free_port(3))


@pytest.mark.long
def test_a_whole_run_under_kill_and_pause_is_valid(kraftproof_run):
    result = kraftproof_run(nemeses=("kill", "pause"), time_limit_s=30)
    assert result.verdict == "valid", result.why
    assert dict(result.figures.bitten) == {"kill": 2, "pause": 2}


@pytest.mark.long
def test_a_harness_killed_with_9_leaves_no_process(runtime, tmp_path):
    harness = subprocess.Popen(
        [sys.executable, "-m", "kraftproof", "up"],
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert harness.stdout.readline().count(":") == 3
    (path,) = (runtime / "kraftproof").glob("*.json")
    processes = [process["pid"] for process in json.loads(path.read_bytes())["processes"]]
    assert len(processes) == 6
    harness.kill()
    harness.wait()
    harness.stdout.close()
    deadline = time.monotonic() + 10
    while any(state_of(pid) not in {None, "Z"} for pid in processes):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(ownership.sweep()) == 1
    assert not list((runtime / "kraftproof").glob("*.json"))


def test_a_mutant_runs_in_the_processes_of_the_nodes(runtime, tmp_path):
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1), seed=1, directory=tmp_path, mutant="A18"
    )
    with cluster_of("local", options, ReferenceSystem()) as cluster:
        pid = cluster.drive(cluster.cluster.process_id(1))
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    assert b"kraftproof.mutants" in command
    assert b"A18" in command
