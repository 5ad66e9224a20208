"""Keep the lock of a host for one run, and undo what a silent harness left there.

`begin` leaves a detached process behind, the keeper. It removes our firewall rules when the lease,
a file that the harness touches, is old, and later ends the nodes and itself. With the keeper ends
the lock. Making and removing rules needs root.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

from kraftproof.cluster.ssh.on_host.processes import Answer, kill, send

LOCK = "\0kraftproof-host"
"""Abstract socket, one for each network of a machine; it ends with its process."""
CHAIN = "KRAFTPROOF"
"""First letters of the names of our chains of rules."""
LOOK_S = 1.0
COMMAND_S = 10.0
CREDENTIALS = struct.Struct("3i")


def holder() -> Answer | None:
    """Return what the keeper of this host says of itself; None without a keeper."""
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(COMMAND_S)
    try:
        link.connect(LOCK)
        told: Answer = json.loads(link.makefile().readline())
        peer = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    except ConnectionRefusedError:
        return None
    finally:
        link.close()
    return {**told, "pid": CREDENTIALS.unpack(peer)[0]}


def begin(directory: str, owner: Answer, silent_s: float, expire_s: float) -> Answer:
    """Take the lock of the host, and leave the keeper behind; `held` names another holder."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(LOCK)
    except OSError:
        return {"held": holder()}
    lock.listen(8)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.chdir("/")
        lock.listen(8)  # again: the kernel then names this process as the peer, see `holder`
        try:
            keep(lock, Path(directory), owner, silent_s, expire_s)
        finally:
            os._exit(0)
    return {}


def keep(lock: socket.socket, run: Path, owner: Answer, silent_s: float, expire_s: float) -> None:
    """Answer who holds the lock, and undo what a silent harness left; return at the end."""
    lock.settimeout(LOOK_S)
    stamp, heard, is_cleared = 0, time.monotonic(), False
    while True:
        link = _accepted(lock)
        now, seen = time.monotonic(), _stamp(run / "lease")
        if seen is None:
            return
        if seen != stamp:
            stamp, heard, is_cleared = seen, now, False
        if link is not None:
            told = {"run": run.name, "owner": owner, "directory": str(run)}
            link.sendall(json.dumps({**told, "silent_s": now - heard}).encode() + b"\n")
            link.close()
        if now - heard > silent_s and not is_cleared:
            clear_rules()
            is_cleared = True
        if now - heard > expire_s:
            kill(str(run))
            return


def _accepted(lock: socket.socket) -> socket.socket | None:
    try:
        return lock.accept()[0]
    except OSError:  # a time-out, which has a class of its own before Python 3.10
        return None


def _stamp(lease: Path) -> int | None:
    """Return the time of the last touch of a lease; None once the run is removed."""
    try:
        return lease.stat().st_mtime_ns
    except OSError:
        return None


def release(directory: str) -> Answer:
    """End the keeper of a run, and remove all our firewall rules; return their number.

    The rules of another run, which holds the lock, are left alone.
    """
    told = holder()
    if told is not None and told["directory"] != directory:
        return {"rules": 0}
    if told is not None:
        send([told["pid"]], signal.SIGKILL)
    return {"rules": clear_rules()}


def rules() -> list[str]:
    """Return the firewall rules of Kraftproof, and the jumps to its chains."""
    lines = _output_of("iptables-save", "-t", "filter").splitlines()
    return [line for line in lines if line.startswith("-A ") and _names_ours(shlex.split(line))]


def _names_ours(words: list[str]) -> bool:
    return words[1].startswith(CHAIN) or words[-1].startswith(CHAIN)


def clear_rules() -> int:
    """Remove our chains from the firewall, and the jumps to them; return the number of rules."""
    found = [shlex.split(line) for line in rules()]
    for words in found:
        if not words[1].startswith(CHAIN):
            _output_of("iptables", "-w", "-D", *words[1:])
    saved = _output_of("iptables-save", "-t", "filter").splitlines()
    chains = [line[1:].split()[0] for line in saved if line.startswith(f":{CHAIN}")]
    for option in ("-F", "-X"):
        for chain in chains:
            _output_of("iptables", "-w", option, chain)
    return len(found)


def _output_of(*command: str) -> str:
    """Return what a command prints; nothing if it fails or is missing."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")
