"""Ctrl-C, a polite end and a kill -9 of the harness: what is healed, kept and left behind."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kraftproof.interrupted import (
    PATIENCE_S,
    all_gone,
    applied,
    events,
    processes_of,
    wait_for,
)
from tests.support.command import KRAFTPROOF, ROOT, run
from tests.support.long_cases import long, mostly_long


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
    of_other_runs = ("folder ",)  # what a dead harness of another test has left
    said = [line for line in healed.stdout.splitlines() if not line.startswith(of_other_runs)]
    assert said == [f"{directory}: every fault was healed"]
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
    process.send_signal(signal.SIGSTOP)  # else the harness heals the fault while others answer
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
    assert run(KRAFTPROOF, "sweep", environment=environment).stdout == "nothing to remove\n"


@pytest.mark.parametrize("number", [signal.SIGINT, long(signal.SIGTERM)])
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
    said = ["the cluster is up; Ctrl-C stops it", "kraftproof: interrupted; the cluster is stopped"]
    assert err.splitlines() == said
    assert all_gone(nodes)


@pytest.mark.long
@pytest.mark.simulation
def test_ctrl_c_ends_a_whole_search(harness, tmp_path):
    process = harness("sim", "--seeds", "0:100000", "--store", tmp_path / "store")
    assert " ops " in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert err == "kraftproof: interrupted\n"


COMMANDS = {
    "check": ("check", "--engine", "inline", "HISTORY"),
    "explain": ("explain", "HISTORY"),
    "generate": ("generate", "--operations", "3000000", "--out", "OUT"),
    "sim": ("sim", "--seeds", "0:100000", "--store", "OUT"),
    "mutants": ("mutants", "A18"),
    "mutate": ("mutate", "kraftproof/node/core/raft", "--store", "OUT"),
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


QUICK = {"check", "local", "mutate", "sim", "up"}
"""Commands that `make test` interrupts."""
VERDICTS = {"check": 1, "explain": 1, "generate": 0}
"""Exit statuses of the commands that may be done before the interrupt comes."""


@pytest.mark.parametrize("after_s", [long(0.0), 0.5, long(1.3)])
@pytest.mark.parametrize("command", mostly_long([(name, name) for name in COMMANDS], QUICK))
def test_ctrl_c_at_any_moment_is_one_line(harness, history, tmp_path, command, after_s):
    places = {"HISTORY": history, "OUT": tmp_path / "out.jsonl"}
    process = harness(*(places.get(word, word) for word in COMMANDS[command]))
    await_handlers(process)
    time.sleep(after_s)
    if process.poll() is not None:  # a fast machine was done before
        return
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    if process.returncode != VERDICTS.get(command) or "interrupted" in err:  # else it was done
        assert process.returncode == 130, out + err
        assert err.splitlines()[-1].startswith("kraftproof: interrupted")
    for trace in ("Traceback", "Event loop is closed", "never awaited", "py4j"):
        assert trace not in out + err


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


INTERRUPTED_TWICE = """
import sys
from kraftproof import cli
from kraftproof.errors import INTERRUPTED_EXIT_CODE

run = cli.run

def run_and_interrupt(arguments):
    run(arguments)
    raise KeyboardInterrupt  # the question whether the first interrupt was lost may come here

cli._invoke = lambda *_: INTERRUPTED_EXIT_CODE
cli.run = run_and_interrupt
sys.argv = ["kraftproof", "explain", "history"]
cli.main()
"""


def test_a_second_interrupt_at_the_end_of_the_first_adds_no_line():
    done = run((sys.executable, "-c", INTERRUPTED_TWICE))
    assert (done.returncode, done.stderr) == (130, "kraftproof: interrupted\n")


SWALLOWS_AN_INTERRUPT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores SIGINT
from kraftproof import cli, interrupts

def invoke(chosen, arguments):
    try:
        print("begun", flush=True)
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
