"""Temporary folders, named after the process that made the folder.

A sweep (cluster/temporary.py) removes the folders of dead processes. The name needs Linux: on
another system, a folder has no owner in the name.
"""

import os
import tempfile
from pathlib import Path
from typing import Final

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
STAT: Final = Path("/proc/self/stat")
NAMESPACE: Final = Path("/proc/self/ns/pid")
START_TIME_FIELD: Final = 19
"""Index of the field in /proc/PID/stat after the closing bracket of the command, from 0."""


def cache_base() -> Path:
    """Return the cache folder of Kraftproof for this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kraftproof"


def owned_folder(purpose: str, parent: Path | None = None) -> "tempfile.TemporaryDirectory[str]":
    """Make a temporary folder of this process.

    Args:
        purpose: A word of the name.
        parent: The folder above; by default the folder of temporary files.
    """
    return tempfile.TemporaryDirectory(prefix=f"kraftproof-{purpose}-{_owner()}", dir=parent)


def _owner() -> str:
    """Return boot id, pid namespace, pid and start time of this process, or nothing."""
    if not STAT.exists():
        return ""
    boot = BOOT_ID.read_text(encoding="utf-8").strip()
    fields = STAT.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    parts = (boot, NAMESPACE.stat().st_ino, os.getpid(), fields[START_TIME_FIELD])
    return f"{'_'.join(map(str, parts))}-"
