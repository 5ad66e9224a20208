"""Do one command on this host, and print the answer as one JSON object.

The harness sends the sources of this folder as standard input of a Python without any package (see
machine.py), so that nothing has to be installed or updated on a host.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kraftproof.cluster.ssh.on_host.keeper import begin, holder, release, rules
from kraftproof.cluster.ssh.on_host.packages import packages
from kraftproof.cluster.ssh.on_host.processes import (
    Answer,
    kill,
    members,
    pause,
    read_json,
    resume,
    set_up,
    start,
    state,
    stop,
    write_json,
)

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
FAKETIME = "libfaketimeMT.so.1"
FAKETIME_FOLDERS = "/usr/lib*/*/faketime/", "/usr/lib*/faketime/", "/opt/kraftproof/"


LEAST_FREE = 64 << 20
"""Free bytes of a disk that a run needs at least."""


def probe(base: str, address: str = "") -> Answer:
    """Return the tools of the host, the runs in its directory, and why no run can start there."""
    try:
        place = Path(base).expanduser()
    except RuntimeError as error:
        return {"error": f"directory {base}: {error}"}
    place = place if place.is_absolute() else Path.home() / place
    found = [
        str(path) for pattern in FAKETIME_FOLDERS for path in Path("/").glob(pattern[1:] + FAKETIME)
    ]
    return {
        "base": str(place),
        "python": list(sys.version_info[:2]),
        "machine": platform.machine(),
        "libfaketime": found[0] if found else None,
        "java": shutil.which("java"),
        "holder": holder(),
        "lack": _lack_of_room(place) or _lack_of_address(address),
        "runs": [_run_at(path) for path in sorted(place.glob("runs/*")) if path.is_dir()],
    }


def _lack_of_room(place: Path) -> str | None:
    """Return why no directory can be made at a place; None if it can."""
    above = place
    while not os.path.exists(above):  # Path.exists fails in a closed folder
        above = above.parent
    if not above.is_dir():
        return f"directory {place}: {above} is a file"
    if not os.access(above, os.W_OK | os.X_OK):
        return f"directory {place}: this login can't write in {above}"
    disk = os.statvfs(above)
    free = disk.f_bavail * disk.f_frsize
    if free < LEAST_FREE:
        return f"directory {place}: its disk has {free >> 20} MiB left, 64 MiB are needed"
    return None


def _lack_of_address(address: str) -> str | None:
    """Return why a node can't listen at an address; None if it can."""
    if not address:
        return None
    link = socket.socket()
    try:
        link.bind((address, 0))
    except OSError as error:
        return f"a node can't listen at {address} ({error.strerror}): give node_address"
    finally:
        link.close()
    return None


def _run_at(run: Path) -> Answer:
    owner = (read_json(run / "owner.json") or {}).get("owner")
    return {"run": run.name, "owner": owner, "processes": len(members(run))}


def firewall() -> Answer:
    """Return our rules, or why none can be made here."""
    for tool in ("iptables", "iptables-save", "iptables-restore"):
        if shutil.which(tool) is None:
            return {"unusable": f"there is no {tool}"}
    done = subprocess.run(
        ("iptables-save", "-t", "filter"), capture_output=True, timeout=10, check=False
    )
    if done.returncode:
        return {"unusable": " ".join(done.stderr.decode(errors="replace").split())}
    return {"rules": rules()}


def prepare(directory: str, owner: Answer) -> Answer:
    """Make the directory of a run, before `begin`."""
    run = Path(directory)
    for folder in (run.parent.parent, run.parent, run, run / "node"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(run / "owner.json", {"owner": owner})
    (run / "lease").touch()
    return {}


def clean(directory: str) -> Answer:
    """End the processes of a run and remove its directory; return the number of processes."""
    run = Path(directory)
    if run.parent.name != "runs" or RUN_NAME.fullmatch(run.name) is None:
        return {"error": f"{directory} is no directory of a run"}
    told = kill(directory)
    if run.exists():
        shutil.rmtree(run)
    for folder in (run.parent, run.parent.parent):
        try:
            folder.rmdir()
        except OSError:
            break  # other runs are there
    return told


COMMANDS: Mapping[str, Callable[..., Answer]] = {
    one.__name__: one
    for one in (
        *(probe, firewall, packages, prepare, begin, release, clean),
        *(set_up, start, state, kill, stop, pause, resume),
    )
}


def main(name: str, text: str) -> None:
    """Do the command, and print its answer or its error."""
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    try:
        answer = COMMANDS[name](**json.loads(text))
    except (OSError, subprocess.TimeoutExpired) as error:
        answer = {"error": str(error)}
    sys.stdout.write(f"{json.dumps(answer)}\n")
