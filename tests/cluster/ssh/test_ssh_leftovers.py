"""Nothing is left on hosts: after a run, after a harness is killed, and after one falls silent."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from kraftproof.cluster.owner import Owner, this_owner
from kraftproof.cluster.processes import identify
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.ssh import records
from kraftproof.cluster.ssh.facts import RunOwner, facts_of, undo
from kraftproof.cluster.ssh.hosts_file import HostEntry, read_hosts
from kraftproof.cluster.ssh.leftovers import heal_hosts, sweep
from kraftproof.cluster.ssh.machine import Machine
from tests.cluster.ssh.machines import MachineSet

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 20.0
NUMBERS = (0, 1, 2)
MAIN = (sys.executable, "-m", "kraftproof")


def killed_harness(hosts: MachineSet, directory: Path) -> None:
    """Let a harness cut a link and pause a node, and kill the harness."""
    directory.mkdir()
    command = [sys.executable, "-m", "tests.cluster.ssh.harness"]
    with subprocess.Popen(
        [*command, str(hosts.write_hosts()), str(directory)], cwd=ROOT, stdout=subprocess.PIPE
    ) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == b"cut\n"
        os.kill(harness.pid, signal.SIGKILL)


@pytest.mark.long
def test_after_a_kill_of_the_harness_a_sweep_leaves_nothing(hosts, runtime, tmp_path):
    killed_harness(hosts, tmp_path / "run")
    left = "".join(hosts.leftovers(number) for number in NUMBERS)
    assert "kraftproof.node.server.main" in left
    assert "-j DROP" in left
    assert "/home/kraft/.kraftproof" in left
    assert (tmp_path / "run" / records.RECORD).is_file()
    lines = sweep()
    assert [line.rpartition(", run ")[0][-5:] for line in lines] == ["alpha", " beta", "gamma"]
    assert all("1 processes ended" in line for line in lines)
    assert "3 firewall rules" in lines[0]
    assert [hosts.leftovers(number) for number in NUMBERS] == ["", "", ""]
    assert sweep() == []
    assert heal_hosts(read_hosts(hosts.folder / "hosts.toml")) == [
        f"host {name}: nothing to remove" for name in ("alpha", "beta", "gamma")
    ]


def dead_owner() -> Owner:
    with subprocess.Popen(["sleep", "60"]) as harness:
        process = identify(harness.pid)
        harness.kill()
    assert process is not None
    return Owner(namespace=this_owner().namespace, process=process)


async def _leave_a_dead_run(entry: HostEntry) -> None:
    """Leave a node, a keeper and files of a harness that has ended."""
    machine = Machine(entry)
    directory = (await facts_of(machine)).directory_of("dead")
    told = RunOwner(owner=dead_owner(), user="somebody", machine="here")
    arguments = {"directory": directory, "owner": msgspec.to_builtins(told)}
    await machine.agent("prepare", arguments)
    await machine.agent("begin", {**arguments, "silent_s": 30, "expire_s": 60}, as_root=True)
    node = {"directory": directory, "command": ["sleep", "60"], "environment": {}}
    await machine.agent("start", node)
    machine.close()


def test_the_next_run_removes_what_a_dead_run_left_and_leaves_nothing(hosts, runtime, tmp_path):
    asyncio.run(_leave_a_dead_run(read_hosts(hosts.write_hosts())[1]))
    assert "sleep 60" in hosts.leftovers(1)
    command = [*MAIN, "test", "--backend", "ssh", "--hosts", str(hosts.folder / "hosts.toml")]
    command += ["--system", "examples/kv/system.py:KV", "--workload", "register"]
    command += ["--nemesis", "kill", "--fault-every", "2", "--min-bites", "1"]
    # At 20 operations a second, a run now and then read nothing that the killed node had lost.
    command += ["--time-limit", "5", "--rate", "80", "--store", str(tmp_path / "store")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "host beta, run dead: 1 processes ended" in done.stderr
    assert "invalid" in done.stdout
    (run,) = (tmp_path / "store").iterdir()
    assert sorted(path.name for path in run.glob("nodes/*/output.log")) == ["output.log"] * 3
    assert [hosts.leftovers(number) for number in NUMBERS] == ["", "", ""]
    assert sweep() == []


def test_a_silent_harness_loses_its_rules_then_its_nodes_and_then_the_lock(hosts):
    """The dead-man's switch, with a silence of three seconds instead of thirty."""
    entry = read_hosts(hosts.write_hosts())[0]
    asyncio.run(_fall_silent(entry, hosts))
    assert hosts.leftovers(0) == ""


async def _fall_silent(entry: HostEntry, hosts: MachineSet) -> None:
    machine = Machine(entry)
    facts = await facts_of(machine)
    directory = facts.directory_of("silent")
    owner = RunOwner(owner=this_owner(), user="somebody", machine="elsewhere")
    told = {"directory": directory, "owner": msgspec.to_builtins(owner)}
    await machine.agent("prepare", told)
    begun = await machine.agent("begin", {**told, "silent_s": 3.0, "expire_s": 8.0}, as_root=True)
    assert begun == {}
    environment = {"PATH": "/usr/bin:/bin"}
    node = {"directory": directory, "command": ["sleep", "60"], "environment": environment}
    await machine.agent("start", node)
    rules = "iptables -N KRAFTPROOF; iptables -A KRAFTPROOF -s 198.18.255.1 -j DROP; "
    await machine.run(("sh", "-c", rules + "iptables -I INPUT -j KRAFTPROOF"), as_root=True)
    # A lease that is touched keeps the rules. The machine touches: a command may take seconds here.
    touches = f"for _ in 1 2 3 4 5 6 7 8 9 10; do touch {directory}/lease; sleep 0.5; done"
    await machine.run(("sh", "-c", touches))
    assert "DROP" in hosts.leftovers(0)
    await _until(lambda: "DROP" not in hosts.leftovers(0))
    assert "sleep 60" in hosts.leftovers(0)
    await _until(lambda: "sleep 60" not in hosts.leftovers(0))
    await _until(lambda: "python3" not in hosts.leftovers(0))
    assert (await facts_of(machine)).holder is None
    await undo(machine, directory)
    machine.close()


async def _until(holds) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - it is the world that changes
            await asyncio.sleep(0.2)


def test_a_harness_of_another_machine_counts_as_dead_once_it_is_silent(hosts):
    """Its process can't be looked at from here, so that only its signs of life count."""
    entry = read_hosts(hosts.write_hosts())[0]

    async def whole() -> tuple[str, bool]:
        machine = Machine(entry)
        facts = await facts_of(machine)
        directory = facts.directory_of("foreign")
        process = msgspec.structs.replace(this_owner().process, boot="another")
        owner = RunOwner(owner=Owner(namespace="1", process=process), user="x", machine="y")
        told = {"directory": directory, "owner": msgspec.to_builtins(owner)}
        await machine.agent("prepare", told)
        limits = {"silent_s": 30.0, "expire_s": 60.0}
        await machine.agent("begin", {**told, **limits}, as_root=True)
        try:
            await asyncio.to_thread(heal_hosts, (entry,))
            refused = ""
        except ClusterError as error:
            refused = str(error)
        holder = (await facts_of(machine)).holder
        assert holder is not None
        silent = msgspec.structs.replace(holder, silent_s=31.0)
        await undo(machine, directory)
        machine.close()
        return refused, silent.is_dead

    begun = time.monotonic()
    refused, is_dead = asyncio.run(whole())
    assert time.monotonic() - begun < PATIENCE_S
    assert "host alpha: is used by another harness: run foreign of x on y" in refused
    assert is_dead
    assert hosts.leftovers(0) == ""
