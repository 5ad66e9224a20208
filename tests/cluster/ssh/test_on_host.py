"""The agent of a host, without a host: its processes and its environment on this machine."""

import json
import os
import signal
import subprocess
import sys
import time

from kraftproof.cluster.remote.output_limit import KEPT_BYTES, PARTS, left_out_bytes
from kraftproof.cluster.ssh.machine import BOOTSTRAP, sources
from kraftproof.cluster.ssh.on_host import processes
from kraftproof.cluster.ssh.on_host.agent import clean, prepare

PATIENCE_S = 30.0
LEAVES = (
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "open('pid', 'a').write(f'{os.getpid()} ')\n"
    "time.sleep(60)\n"
)
"""A node whose child leaves its session."""


def agent(do, directory, **arguments):
    """Let the agent do a command in a process of its own, as a host does."""
    told = json.dumps({"directory": str(directory), **arguments})
    command = [sys.executable, "-I", "-S", "-c", BOOTSTRAP, do, told]
    done = subprocess.run(command, input=sources(), capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def begun(tmp_path, command):
    directory = tmp_path / "base" / "runs" / "one"
    agent("prepare", directory, owner={})
    agent("start", directory, command=command, environment={})
    return directory


def pids_of(directory, count):
    path, deadline = directory / "node" / "pid", time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if path.exists() and len(path.read_text().split()) == count:
            return [int(pid) for pid in path.read_text().split()]
        time.sleep(0.01)
    raise TimeoutError("the node did not start")


def until(look, holds):
    """Return what a look finds, once it is the wanted."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if holds(found := look()):
            return found
        time.sleep(0.01)
    raise TimeoutError("the wanted state did not come")


FLOODS = (
    "import sys\n"
    "for n in range(600): sys.stdout.write(f'{n} ' + 'retry ' * 20000 + '\\n')\n"
    "print('the end')\n"
)


def test_the_output_of_a_node_in_a_loop_is_cut_on_the_host(tmp_path):
    directory = begun(tmp_path, [sys.executable, "-c", FLOODS])
    state = until(lambda: agent("state", directory), lambda found: found["pid"] is None)
    assert state["exit_status"] == 0
    output = directory / "node" / "output.log"
    assert output.stat().st_size < PARTS * KEPT_BYTES
    assert left_out_bytes(output) > 0
    assert output.read_text().endswith("retry \nthe end\n")


def test_all_processes_of_a_run_are_found_stopped_and_killed(tmp_path):
    directory = begun(tmp_path, [sys.executable, "-c", LEAVES])
    pids = pids_of(directory, 2)
    assert sorted(processes.members(directory)) == sorted(pids)
    agent("pause", directory)
    assert [processes.stat_of(pid).letter for pid in pids] == ["T", "T"]
    assert processes.state(str(directory))["paused"]
    agent("resume", directory)
    assert not processes.state(str(directory))["paused"]
    assert agent("kill", directory)["ended"] == 2
    assert processes.members(directory) == []
    assert agent("state", directory) == {"pid": None, "paused": False, "exit_status": -9}


def test_the_exit_status_of_a_node_is_told_after_each_of_its_starts(tmp_path):
    directory = begun(tmp_path, ["sh", "-c", "mkfifo go; read line <go; exit 3"])
    go = directory / "node" / "go"
    until(go.is_fifo, bool)
    assert agent("state", directory)["exit_status"] is None
    go.write_text("go\n")
    ended = until(lambda: agent("state", directory), lambda told: told["pid"] is None)
    assert ended == {"pid": None, "paused": False, "exit_status": 3}
    agent("start", directory, command=["sleep", "60"], environment={})
    assert agent("state", directory)["exit_status"] is None
    agent("kill", directory)
    assert agent("state", directory)["exit_status"] == -9
    absent = agent("start", directory, command=["/no/such/program"], environment={})
    assert absent == {"error": "[Errno 2] No such file or directory: '/no/such/program'"}
    agent("clean", directory)


def test_the_waiter_of_a_node_ends_with_the_node(tmp_path):
    directory = begun(tmp_path, ["sleep", "60"])
    waiter = json.loads((directory / "process.json").read_text())["waiter"]["pid"]
    assert processes.stat_of(waiter) is not None
    agent("kill", directory)
    assert processes.stat_of(waiter) is None
    agent("clean", directory)


def test_a_start_leaves_a_running_node_alone_and_a_stop_is_orderly(tmp_path):
    script = "import signal, sys, time; signal.signal(15, lambda *_: (print('end'), sys.exit()))"
    script += "; open('pid', 'a').write('1 '); time.sleep(60)"
    directory = begun(tmp_path, [sys.executable, "-c", script])
    pids_of(directory, 1)
    pid = processes.state(str(directory))["pid"]
    assert agent("start", directory, command=["false"], environment={}) == {"pid": pid}
    agent("stop", directory, number=int(signal.SIGTERM))
    assert (directory / "node" / "output.log").read_text() == "end\n"
    assert agent("clean", directory) == {"ended": 0}
    assert not (tmp_path / "base").exists()


def test_another_process_with_the_recorded_id_is_left_alone(tmp_path):
    directory = tmp_path / "base" / "runs" / "one"
    prepare(str(directory), {})
    processes.write_json(directory / "process.json", {"pid": os.getpid(), "start": 1})
    assert processes.members(directory) == []
    assert processes.state(str(directory))["pid"] is None


def test_wanted_folders_come_before_those_of_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    wanted = {"PATH": "/run/programs", "LD_LIBRARY_PATH": "/run/lib", "A": "1"}
    found = processes.environment_for(tmp_path / "one", wanted)
    assert found["PATH"] == "/run/programs:/usr/bin"
    assert found["LD_LIBRARY_PATH"] == "/run/lib"
    assert (found["A"], found[processes.MARK]) == ("1", "one")


def test_only_directories_of_runs_are_removed(tmp_path):
    (tmp_path / "precious").mkdir()
    assert "error" in clean(str(tmp_path / "precious"))
    assert "error" in clean(str(tmp_path / "runs" / ".."))
    assert (tmp_path / "precious").exists()


def test_an_old_python_is_named():
    script = f"import sys; sys.version_info = (3, 8, 1); exec({BOOTSTRAP!r})"
    done = subprocess.run(
        [sys.executable, "-c", script, "probe", "{}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        "Python 3.8 is too old, name 3.9 or newer by python\n",
    )
