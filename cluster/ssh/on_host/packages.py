"""Debian packages for one run: unpacked below its directory, where the host does not have them.

Nothing is installed: no service starts, and the packages go with the directory.
"""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
from pathlib import Path

from kraftproof.cluster.ssh.on_host.processes import Answer

COMMAND_S = 200.0
LIBRARIES = "usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib"
PROGRAMS = "usr/bin", "usr/sbin", "bin", "sbin"


def packages(names: list[str], directory: str, sudo: str) -> Answer:
    """Make sure of packages; return the variables by which programs and libraries are found.

    Args:
        names: Names of packages.
        directory: Where missing packages are unpacked.
        sudo: Words before a command that needs root.
    """
    if all(_is_installed(name) for name in names):
        return {"environment": {}}
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = _missing(names)
    if wanted is None:
        _run(*shlex.split(sudo), "apt-get", "-qq", "update")
        wanted = _missing(names)
    if wanted is None:
        return {"error": f"apt-get knows no packages {' '.join(names)}"}
    done = _run("apt-get", "-qq", "download", *wanted, cwd=folder)
    archives = sorted(folder.glob("*.deb"))
    if done.returncode or not archives:
        return {"error": f"apt-get download: {_last_line(done)}"}
    for archive in archives:
        done = _run("dpkg-deb", "-x", str(archive), str(folder))
        archive.unlink()
        if done.returncode:
            return {"error": f"{archive.name}: {_last_line(done)}"}
    found = [path for one in LIBRARIES for path in glob.glob(f"{folder}/{one}")]
    return {
        "environment": {
            "PATH": os.pathsep.join(f"{folder}/{one}" for one in PROGRAMS),
            "LD_LIBRARY_PATH": os.pathsep.join(found),
        }
    }


def _is_installed(name: str) -> bool:
    done = _run("dpkg-query", "-W", "-f", "${db:Status-Status}", name)
    return done.returncode == 0 and done.stdout == b"installed"


def _missing(names: list[str]) -> list[str] | None:
    """Return the packages that an installation would add; None if a name is unknown."""
    done = _run("apt-get", "-s", "-qq", "--no-install-recommends", "install", *names)
    if done.returncode:
        return None
    lines = done.stdout.decode(errors="replace").splitlines()
    return [line.split()[1] for line in lines if line.startswith("Inst ")]


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        cwd=cwd,
        timeout=COMMAND_S,
        check=False,
    )


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"
