"""The clock of one process: the code is written once, to the right process, or refused."""

import os
import platform
import signal
import subprocess
import sys
import time

import pytest

from kraftproof.cluster.processes import state_of
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.vdso import node_processes, process_clock, stopped
from kraftproof.cluster.remote.clocks.vdso.node_processes import NodeProcesses, loads_libraries
from kraftproof.cluster.remote.clocks.vdso.proc_folder import ProcFolder
from kraftproof.cluster.remote.clocks.vdso.process_clock import LARGEST_OFFSET_NS, attach, lack_of
from tests.cluster.remote.clocks.vdso import elf

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of x86_64")

SECOND_NS = 1_000_000_000
HOUR_NS = 3600 * SECOND_NS
NOBODY = 65534
ANSWERS = """
import os, sys, time
def tell():
    print(time.time_ns(), time.monotonic_ns(), os.getpid(), flush=True)
tell()
for line in sys.stdin:
    if line == "exec\\n":
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if line == "fork\\n" and os.fork():
        os.wait()
    tell()
"""


class Process:
    """A program that tells its clocks when asked."""

    def __init__(self):
        command = (sys.executable, "-I", "-S", "-u", "-c", ANSWERS)
        self.popen = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self.popen.pid
        self.popen.stdout.readline()

    def ask(self, line="now"):
        self.popen.stdin.write(f"{line}\n")
        self.popen.stdin.flush()
        return map(int, self.popen.stdout.readline().split())

    def hours(self):
        """Return how far the wall clock is off, in hours; the monotonic clock is the machine's."""
        before_ns = time.monotonic_ns()
        wall_ns, monotonic_ns, _ = self.ask()
        assert before_ns <= monotonic_ns <= time.monotonic_ns()
        return round((wall_ns - time.time_ns()) / HOUR_NS, 2)


@pytest.fixture
def process():
    process = Process()
    yield process
    process.popen.kill()
    process.popen.communicate(timeout=10)


def test_a_clock_moves_by_its_word_and_the_process_never_stops_again(process, monkeypatch):
    clock = attach(process.pid, HOUR_NS)
    assert process.hours() == 1
    monkeypatch.setattr(ProcFolder, "send", lambda *_: pytest.fail("no second stop"))
    assert clock.move(-2 * HOUR_NS)
    assert process.hours() == -2
    again = attach(process.pid, 3 * HOUR_NS)  # the code is there
    assert process.hours() == 3
    assert clock.move(0)
    assert process.hours() == 0
    clock.close()
    again.close()


def test_only_the_process_itself_is_moved(process):
    other = Process()
    attach(process.pid, HOUR_NS).close()
    assert (process.hours(), other.hours()) == (1, 0)
    other.popen.kill()
    other.popen.communicate(timeout=10)


def test_a_process_that_is_stopped_stays_so(process):
    os.kill(process.pid, signal.SIGSTOP)
    while state_of(process.pid) != "T":
        time.sleep(0.001)
    attach(process.pid, HOUR_NS).close()
    assert state_of(process.pid) == "T"
    os.kill(process.pid, signal.SIGCONT)
    assert process.hours() == 1


def test_a_process_that_ends_meanwhile_is_no_error(process):
    clock = attach(process.pid, HOUR_NS)
    process.popen.kill()
    process.popen.wait(10)
    assert not clock.move(0)
    assert attach(process.pid, 0) is None
    assert lack_of(process.pid) is None
    clock.close()


def test_another_program_in_the_process_gets_the_code_anew(process):
    processes = NodeProcesses(is_preloaded=False)
    assert processes.look([process.pid], HOUR_NS, is_moving=True, is_held=False) == 1
    assert processes.look([process.pid], HOUR_NS, is_moving=True, is_held=False) == 0
    process.ask("exec")  # the new program tells its clock first
    assert process.hours() == 0
    assert processes.look([process.pid], HOUR_NS, is_moving=True, is_held=False) == 1
    assert process.hours() == 1
    processes.close()


def test_the_child_of_a_fork_has_the_code_and_is_healed(process):
    processes = NodeProcesses(is_preloaded=False)
    processes.look([process.pid], HOUR_NS, is_moving=True, is_held=False)
    wall_ns, _, child = process.ask("fork")
    assert child != process.pid
    assert wall_ns - time.time_ns() > HOUR_NS / 2
    processes.look([process.pid, child], 0, is_moving=False, is_held=False)
    assert process.hours() == 0  # the child answers, its parent waits
    processes.close()


def test_without_a_fault_no_process_is_touched(process, monkeypatch):
    monkeypatch.setattr(node_processes, "attach", lambda *_, **__: pytest.fail("nothing to do"))
    processes = NodeProcesses(is_preloaded=False)
    assert processes.look([process.pid], 0, is_moving=False, is_held=False) == 0


def test_a_program_that_libfaketime_moves_is_left_alone(process):
    assert loads_libraries(process.pid)
    processes = NodeProcesses(is_preloaded=True)
    assert processes.look([process.pid], HOUR_NS, is_moving=True, is_held=False) == 0
    assert process.hours() == 0


def refusal(process):
    """Return the reason, which must be the same beforehand, and leave the process running."""
    with pytest.raises(ClusterError) as refused:
        attach(process.pid, HOUR_NS)
    (line,) = str(refused.value).splitlines()
    assert process.hours() == 0
    return line.removeprefix(f"the clock of process {process.pid} can't be moved: ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (elf.image(elf.ARM_64), "its vDSO is not that of a process of x86_64"),
        (elf.image(names=elf.NAMES[1:]), "its vDSO has no __vdso_clock_gettime"),
        (elf.image(end=0xFD0), "its vDSO has 48 unused bytes, and 192 are needed"),
        (elf.image()[:-1] + b"\1", "the bytes behind its vDSO are used"),
    ],
)
def test_a_vdso_that_can_not_be_used_is_refused(process, monkeypatch, data, reason):
    monkeypatch.setattr(process_clock, "_read", lambda *_: data)
    assert lack_of(process.pid) == f"the clock of process {process.pid} can't be moved: {reason}"
    assert refusal(process) == reason


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ("7fff00000000-7fff00002000 r-xp 0 00:00 0 [stack]", "it has no vDSO"),
        ("7fff00000000-7fff00100000 r-xp 0 00:00 0 [vdso]", "its vDSO has more than 65536 bytes"),
    ],
)
def test_a_process_without_a_usable_mapping_is_refused(process, monkeypatch, mapping, reason):
    monkeypatch.setattr(ProcFolder, "read", lambda *_: mapping)
    assert refusal(process) == reason


def lack_as_nobody(pid: int) -> str:
    """Return the lack that a process without rights sees."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setuid(NOBODY)
        os.write(writer, str(lack_of(pid)).encode())
        os._exit(0)
    os.wait()
    os.close(writer)
    with open(reader, encoding="utf-8") as told:
        return told.read()


def test_who_may_not_write_the_memory_is_told_so(process):
    is_root = os.geteuid() == 0
    lack = lack_as_nobody(process.pid) if is_root else lack_of(1)
    assert lack is not None
    assert lack.endswith("can't be moved: its memory can't be written: Permission denied")


def test_a_kernel_that_protects_the_code_is_told(process, monkeypatch):
    def refuse(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(process_clock, "_write", refuse)
    reason = "its memory can't be written: Input/output error"
    assert refusal(process) == reason
    assert lack_of(process.pid) == f"the clock of process {process.pid} can't be moved: {reason}"


def test_who_may_not_stop_a_process_is_told(process, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(ProcFolder, "send", refuse)
    assert refusal(process) == "it can't be stopped: Operation not permitted"


def test_a_thread_within_the_jump_is_let_out_of_it(process, monkeypatch):
    """The address is made up for two looks: no test can stop a thread there by itself."""
    found, places = stopped._place, []

    def place(folder, thread):
        true = found(folder, thread)
        if true is not None and len(places) < 2:
            places.append(true)
            return vdso_address(process.pid) + 1
        return true

    monkeypatch.setattr(stopped, "_place", place)
    attach(process.pid, HOUR_NS).close()
    assert len(places) == 2
    assert process.hours() == 1


def test_a_thread_that_stays_within_the_jump_is_an_error(process, monkeypatch):
    monkeypatch.setattr(stopped, "GO_ON_S", 0)
    within = vdso_address(process.pid) + 1
    monkeypatch.setattr(stopped, "_place", lambda *_: within)
    with pytest.raises(ClusterError) as refused:
        attach(process.pid, HOUR_NS)
    assert str(refused.value) == f"process {process.pid}: a thread stays within a clock function"
    assert process.hours() == 0


def test_a_process_that_does_not_stop_is_an_error_and_goes_on(process, monkeypatch):
    monkeypatch.setattr(stopped, "STOP_S", 0.05)
    monkeypatch.setattr(stopped, "_place", lambda *_: None)
    with pytest.raises(ClusterError) as refused:
        attach(process.pid, HOUR_NS)
    assert str(refused.value) == f"process {process.pid}: not stopped 0.05 s after SIGSTOP"
    assert process.hours() == 0


def test_an_offset_beyond_a_word_is_refused():
    with pytest.raises(ClusterError, match="it has at most 73 years"):
        NodeProcesses(is_preloaded=False).move(LARGEST_OFFSET_NS + 1)


def vdso_address(pid):
    """Return the address of a clock function of a process."""
    vdso = process_clock._Vdso(pid)
    try:
        return vdso._start + next(iter(vdso._image.functions.values()))
    finally:
        vdso.close()
