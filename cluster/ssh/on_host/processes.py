"""Processes of a run on this host: start them, signal them, and find all of them again.

A run's directory holds `node/`, the node's own, `process.json` with the ids of its process and of
the waiter, its parent, and after the end of the node `status.json` with its exit status.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from kraftproof.cluster.remote.output_limit import wait_with_limit

Answer = dict[str, Any]
MARK = "KRAFTPROOF_RUN"
"""Variable in the environment of each process of a run."""
PATHS = "PATH", "LD_LIBRARY_PATH"
STATUS = "status.json"
SHARED_MEMORY = "faketime_shm_{}", "sem.faketime_sem_{}"
LOOK_S = 0.01
END_S = 10.0


class Stat(NamedTuple):
    """A live process as /proc has it."""

    letter: str
    session: int
    start: int


def stat_of(pid: int) -> Stat | None:
    """Return the state of a process; None if it is gone or a zombie."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Stat(fields[0], int(fields[3]), int(fields[19]))


def members(run: Path) -> list[int]:
    """Return the live processes of a run: those of its session, and those with its mark.

    A program may overwrite its environment, and may leave its session: few do both.
    """
    told = read_json(run / "process.json") or {"pid": -1, "start": -1}
    leader = stat_of(told["pid"])
    is_ours = leader is None or leader.start == told["start"]
    mark = f"{MARK}={run.name}".encode()
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        stat = None if pid == os.getpid() else stat_of(pid)
        if stat is None:
            continue
        in_session = is_ours and stat.session == told["pid"] and stat.start >= told["start"]
        if in_session or mark in environment_of(pid):
            found.append(pid)
    return found


def environment_of(pid: int) -> list[bytes]:
    """Return the variables of a process; none of a process of another user."""
    try:
        return Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def send(pids: list[int], number: int) -> None:
    """Send a signal to processes, some of which may have ended."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def main_process(run: Path) -> tuple[str | None, int | None]:
    """Return state letter and id of the node's first process; Nones if it ended."""
    told = read_json(run / "process.json")
    stat = None if told is None else stat_of(told["pid"])
    if told is None or stat is None or stat.start != told["start"]:
        return None, None
    return stat.letter, told["pid"]


def state(directory: str) -> Answer:
    """Return the id of the node's process, whether it is stopped, and its exit status."""
    run = Path(directory)
    letter, pid = main_process(run)
    status = None
    if pid is None:
        await_waiter(run)
        status = (read_json(run / STATUS) or {}).get("status")
    return {"pid": pid, "paused": letter == "T", "exit_status": status}


def forget_clock(pid: int) -> None:
    """Remove the shared memory of libfaketime, which a process leaves behind that is killed."""
    for name in SHARED_MEMORY:
        try:
            Path("/dev/shm", name.format(pid)).unlink()  # noqa: S108 - the place of POSIX
        except OSError:
            continue  # it is not there, or is another user's


def await_waiter(run: Path) -> None:
    """Wait until the parent of a node that has ended has written the exit status."""
    told = read_json(run / "process.json") or {}
    waiter, deadline = told.get("waiter"), time.monotonic() + END_S
    while waiter is not None and time.monotonic() < deadline:
        stat = stat_of(waiter["pid"])
        if stat is None or stat.start != waiter["start"]:
            return
        time.sleep(LOOK_S)


def start(directory: str, command: list[str], environment: dict[str, str]) -> Answer:
    """Start the node in a session of its own, unless it runs.

    A detached process, the waiter, is its parent: only a parent learns the exit status.
    """
    run = Path(directory)
    _, pid = main_process(run)
    if pid is not None:
        return {"pid": pid}
    await_waiter(run)
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receiver)
            os.setsid()
            if os.fork() == 0:
                _start_and_wait(run, command, environment, sender)
        finally:
            os._exit(0)
    os.close(sender)
    os.waitpid(child, 0)
    with os.fdopen(receiver, "rb") as answer:
        told: Answer = json.loads(answer.read() or b'{"error": "the start has no answer"}')
    return told


def _start_and_wait(
    run: Path, command: list[str], environment: dict[str, str], sender: int
) -> None:
    """Start the node, send the answer of `start`, and write the exit status at the end."""
    try:
        process = _started(run, command, environment)
        answer: Answer = {"pid": process.pid}
    except OSError as error:
        process, answer = None, {"error": str(error)}
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # the session of ssh ends with the last who holds its streams
        os.dup2(null, descriptor)
    os.chdir("/")
    os.write(sender, json.dumps(answer).encode())
    os.close(sender)
    if process is not None:
        status = wait_with_limit(process, run / "node" / "output.log")
        forget_clock(process.pid)
        write_json(run / STATUS, {"status": status})


def _started(run: Path, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start the node as a child of this process, and note both."""
    (run / STATUS).unlink(missing_ok=True)
    with (run / "node" / "output.log").open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=run / "node",
            env=environment_for(run, environment),
            start_new_session=True,
        )
    node, own = stat_of(process.pid), stat_of(os.getpid())
    waiter = {"pid": os.getpid(), "start": own.start if own else 0}
    told = {"pid": process.pid, "start": node.start if node else 0, "waiter": waiter}
    write_json(run / "process.json", told)
    return process


def set_up(
    directory: str, command: list[str], environment: dict[str, str], timeout_s: float
) -> Answer:
    """Run a command to its end; its output goes to the node's."""
    run = Path(directory)
    with (run / "node" / "output.log").open("ab") as output:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=run / "node",
            env=environment_for(run, environment),
            start_new_session=True,
            timeout=timeout_s,
            check=False,
        )
    return {"status": done.returncode}


def environment_for(run: Path, wanted: dict[str, str]) -> dict[str, str]:
    """Return the variables of a process: the wanted ones, and wanted folders before the host's."""
    joined = {
        name: os.pathsep.join((wanted[name], os.environ[name]))
        for name in PATHS
        if name in wanted and name in os.environ
    }
    return {**os.environ, **wanted, **joined, MARK: run.name}


def kill(directory: str) -> Answer:
    """End all processes of the run with SIGKILL; return their number."""
    deadline = time.monotonic() + END_S
    ended: set[int] = set()
    while True:
        pids = members(Path(directory))
        if not pids:
            for pid in ended:
                forget_clock(pid)
            await_waiter(Path(directory))
            return {"ended": len(ended)}
        if time.monotonic() > deadline:
            return {"error": f"processes {pids} do not end"}
        ended.update(pids)
        send(pids, signal.SIGKILL)
        time.sleep(LOOK_S)


def stop(directory: str, number: int) -> Answer:
    """Send a signal to the node, and end all of the run after its end or ten seconds."""
    _, pid = main_process(Path(directory))
    if pid is not None:
        send([pid], number)
    deadline = time.monotonic() + END_S
    while main_process(Path(directory))[1] is not None and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    return kill(directory)


def pause(directory: str) -> Answer:
    """Stop all processes of the run, and wait until they have stopped."""
    run = Path(directory)
    if main_process(run)[1] is None:
        return {"error": "not running, no SIGSTOP"}
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        pids = members(run)
        send(pids, signal.SIGSTOP)
        states = [stat_of(pid) for pid in pids]
        if all(one is None or one.letter == "T" for one in states):
            return {"paused": len(pids)}
        time.sleep(LOOK_S)
    return {"error": f"not stopped {END_S:g} s after SIGSTOP"}


def resume(directory: str) -> Answer:
    """Let all processes of the run go on."""
    run = Path(directory)
    if main_process(run)[1] is None:
        return {"error": "not running, no SIGCONT"}
    pids = members(run)
    send(pids, signal.SIGCONT)
    return {"resumed": len(pids)}


def read_json(path: Path) -> Answer | None:
    """Return the object in a file; None if there is no whole object."""
    try:
        found: Answer = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def write_json(path: Path, value: Answer) -> None:
    """Write an object into a file, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value), encoding="utf-8")
    part.replace(path)
