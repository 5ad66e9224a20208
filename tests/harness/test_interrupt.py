"""Ctrl-C, a polite end and a kill -9 of the harness: what is healed, kept and left behind."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraftproof.cluster.local import ownership
from tests.harness.command import KRAFTPROOF, ROOT, begin, run

PATIENCE_S = 30


@pytest.fixture
def environment(tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def harness(environment):
    """Starts a kraftproof in the background, which is surely gone after the test."""
    begun = []

    def start(*arguments):
        process = begin(
            *arguments,
            environment=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()  # closes its pipes, also where it was done before the interrupt


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def wait_for(find):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := find()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def applied(store):
    """The directory of the run once a fault is in force."""
    for faults in store.glob("*/faults.jsonl"):
        if '"applied"' in faults.read_text():
            return faults.parent
    return None


def processes_of(environment):
    (path,) = ownership.Path(environment["XDG_RUNTIME_DIR"]).glob("kraftproof/*.json")
    return [process["pid"] for process in json.loads(path.read_bytes())["processes"]]


def all_gone(processes):
    return all(ownership.state_of(process) in {None, "Z"} for process in processes)


def test_ctrl_c_heals_keeps_the_history_and_leaves_the_verdict_unknown(
    harness, environment, tmp_path
):
    store = tmp_path / "store"
    process = harness(
        *("test", "--engine", "inline", "--nodes", "1+1", "--nemesis", "pause", "--rate", "20"),
        *("--time-limit", "600", "--store", store),
    )
    directory = wait_for(lambda: applied(store))
    nodes = processes_of(environment)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, out + err
    last = f"kraftproof: interrupted; the verdict on {directory} is unknown"
    assert err.splitlines()[-1] == last
    assert (out, "Traceback" in err) == ("", False)
    assert [event["phase"] for event in events(directory / "faults.jsonl")][-1] == "healed"
    assert len(events(directory / "history.jsonl")) > 0
    assert ">unknown</h1>" in (directory / "report.html").read_text()
    assert all_gone(nodes)
    healed = run(KRAFTPROOF, "heal", directory, environment=environment)
    assert healed.stdout == f"{directory}: every fault was healed\n"
    again = run(KRAFTPROOF, "check", "--engine", "inline", directory)
    assert again.returncode == 2, again.stdout
    assert "interrupted: all faults were healed, the history is partial" in again.stdout


def test_a_harness_killed_with_9_leaves_no_node_and_heal_names_its_faults(
    harness, environment, tmp_path
):
    store = tmp_path / "store"
    process = harness(
        *("test", "--engine", "inline", "--nodes", "1+1", "--nemesis", "pause"),
        *("--time-limit", "600", "--store", store),
    )
    directory = wait_for(lambda: applied(store))
    nodes = processes_of(environment)
    refused = run(KRAFTPROOF, "heal", directory, environment=environment)
    assert refused.returncode == 3
    assert f"its harness runs (process {process.pid})" in refused.stderr
    process.kill()
    process.communicate()
    wait_for(lambda: all_gone(nodes))
    judged = run(KRAFTPROOF, "check", "--engine", "inline", directory)
    assert judged.returncode == 2, judged.stdout
    assert "no outcome.json: its harness has not ended, or died before the end" in judged.stdout
    healed = run(KRAFTPROOF, "heal", directory, environment=environment)
    assert healed.returncode == 0, healed.stderr
    swept, fault = healed.stdout.splitlines()
    assert f"owner {process.pid} is gone" in swept
    assert fault.startswith("f0 pause ")
    assert "heal: resume node" in fault
    assert run(KRAFTPROOF, "sweep", environment=environment).stdout == "nothing was left\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_prints_addresses_and_takes_all_down(harness, environment, number):
    process = harness("up", "--backend", "local", "--nodes", "1+2", "--timeouts", "chaos")
    addresses = process.stdout.readline().strip().split(",")
    assert len(addresses) == 2
    assert all(address.startswith("127.0.0.1:") for address in addresses)
    nodes = processes_of(environment)
    assert len(nodes) == 3
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    said = ["up; Ctrl-C takes all down", "kraftproof: interrupted; the cluster is taken down"]
    assert err.splitlines() == said
    assert all_gone(nodes)


@pytest.mark.simulation
def test_ctrl_c_ends_a_whole_search(harness, tmp_path):
    process = harness("sim", "--seeds", "0:100000", "--store", tmp_path / "store")
    assert " ops " in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert err == "kraftproof: interrupted\n"


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """An invalid history that takes seconds to check and to explain."""
    path = tmp_path_factory.mktemp("interrupted") / "h.jsonl"
    options = ("--operations", "60000", "--keys", "40", "--corrupt", "stale-read", "--out", path)
    assert run(KRAFTPROOF, "generate", *options).returncode == 0
    return path


COMMANDS = {
    "check": ("check", "--engine", "inline", "HISTORY"),
    "explain": ("explain", "HISTORY"),
    "generate": ("generate", "--operations", "3000000", "--out", "OUT"),
    "sim": ("sim", "--seeds", "0:100000", "--store", "OUT"),
    "mutants": ("mutants", "A18"),
    "shrink": ("shrink", "7", "--mutant", "A18", "--store", "OUT"),
    "up": ("up", "--nodes", "1+1"),
    "simulated": (
        *("test", "--backend", "simulated", "--engine", "inline", "--nemesis", "pause"),
        *("--time-limit", "6000", "--store", "OUT"),
    ),
    "local": (
        *("test", "--engine", "inline", "--nodes", "1+1", "--nemesis", "pause"),
        *("--time-limit", "600", "--store", "OUT"),
    ),
}


def await_handlers(process):
    """Wait until the command has taken its signals over; before that Python itself is starting."""
    caught = Path(f"/proc/{process.pid}/status")
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        (line,) = re.findall(r"^SigCgt:\s+(\w+)$", caught.read_text(), re.MULTILINE)
        if int(line, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)


@pytest.mark.parametrize("after_s", [0.0, 0.5, 1.3])
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_at_any_moment_is_one_line(harness, history, tmp_path, command, after_s):
    places = {"HISTORY": history, "OUT": tmp_path / "out.jsonl"}
    process = harness(*(places.get(word, word) for word in COMMANDS[command]))
    await_handlers(process)
    time.sleep(after_s)
    if process.poll() is not None:  # a fast machine was done before
        return
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, out + err
    assert err.splitlines()[-1].startswith("kraftproof: interrupted")
    for trace in ("Traceback", "Event loop is closed", "never awaited", "py4j"):
        assert trace not in out + err


def is_quiet(out, err):
    """Whether an interrupted command said nothing of how the interrupt went through its code."""
    traces = ("Traceback", "Event loop is closed", "never awaited", "was never retrieved", "py4j")
    return not any(trace in out + err for trace in traces)


@pytest.mark.docker
@pytest.mark.parametrize("moment", ["the start", "the workload"])
def test_ctrl_c_leaves_no_container(harness, tmp_path, moment):
    from kraftproof.cluster.docker.engine import connect_engine
    from kraftproof.cluster.docker.owner import OWNER

    store = tmp_path / "store"
    process = harness(
        *("test", "--backend", "docker", "--engine", "inline", "--nodes", "1+1"),
        *("--nemesis", "pause", "--time-limit", "600", "--store", store),
    )
    client = connect_engine()
    try:

        def ours():
            named = {"label": OWNER}
            containers = client.containers.list(all=True, filters=named, ignore_removed=True)
            owners = {one.name: one.labels[OWNER] for one in containers}
            for network in client.networks.list(filters=named):
                owners[network.name] = network.attrs["Labels"][OWNER]
            return [name for name, owner in owners.items() if f":{process.pid}:" in owner]

        wait_for(ours if moment == "the start" else lambda: applied(store))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=2 * PATIENCE_S)
        assert process.returncode == 130, out + err
        assert err.splitlines()[-1].startswith("kraftproof: interrupted; the verdict on ")
        assert is_quiet(out, err), err
        assert ours() == []
    finally:
        client.close()


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """A folder of histories that take Spark a while."""
    folder = tmp_path_factory.mktemp("histories")
    for seed in range(3):
        options = ("--operations", "60000", "--keys", "40", "--seed", seed)
        made = run(KRAFTPROOF, "generate", *options, "--out", folder / f"{seed}.jsonl")
        assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.spark
@pytest.mark.parametrize("moment", ["starting Spark", "judging"])
def test_ctrl_c_ends_an_analysis_and_its_java(harness, histories, tmp_path, moment):
    out = tmp_path / "analysis"
    process = harness("analyze", histories, "--master", "local[2]", "--out", out)
    seen = ""
    while moment not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=2 * PATIENCE_S)  # Java, if it lived, would hold it open
    assert process.returncode == 130, said + err
    assert err.splitlines()[-1] == "kraftproof: interrupted"
    assert is_quiet(said, err), err
    assert not (out / ".stage").exists()


@pytest.mark.spark
@pytest.mark.parametrize("after_s", [1.5, 3.0, 6.0])
def test_ctrl_c_ends_a_check_on_spark_and_its_java(harness, history, after_s):
    process = harness("check", "--engine", "spark", history)
    time.sleep(after_s)
    if process.poll() is not None:  # a fast machine was done before
        return
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)  # Java, if it lived, would hold these open
    assert process.returncode == 130, out + err
    assert "kraftproof: interrupted" in err.splitlines()
    assert "Traceback" not in err
    assert "py4j" not in err


LOSES_AN_INTERRUPT = """
import sys
from kraftproof import cli

class Lost:
    def __del__(self):
        raise KeyboardInterrupt  # as in a callback of numba's compiler

def invoke(chosen, arguments):
    Lost()
    raise RuntimeError("no compiled object yet")

cli._invoke = invoke
sys.argv = ["kraftproof", "explain", "history"]
cli.main()
"""


def test_an_error_for_want_of_a_callback_that_lost_the_interrupt_is_no_crash():
    done = run((sys.executable, "-c", LOSES_AN_INTERRUPT))
    assert (done.returncode, done.stderr) == (130, "kraftproof: interrupted\n")


SWALLOWS_AN_INTERRUPT = """
import sys, time
from kraftproof import cli, interrupts

def invoke(chosen, arguments):
    print("begun", flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        pass  # as in C code that clears errors
    try:
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        time.sleep(3 * interrupts.PROBE_S)  # tidying up is not interrupted
        print("tidied up", flush=True)
        raise

interrupts.PROBE_S = 0.3
cli._invoke = invoke
sys.argv = ["kraftproof", "explain", "history"]
cli.main()
"""


def test_an_interrupt_that_was_lost_without_a_word_comes_again():
    command = [sys.executable, "-c", SWALLOWS_AN_INTERRUPT]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, "tidied up\n", "kraftproof: interrupted\n")
