"""Temporary folders with their owner in their names, for a sweep of those of dead harnesses."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

from kraftproof.cluster.owner import Life, Owner, this_owner
from kraftproof.cluster.processes import Identity

DEAD: Final = frozenset({Life.DEAD, Life.OTHER_BOOT})
NAME: Final = re.compile(
    r"kraftproof-[a-z]+-([0-9a-f-]{36})_([0-9]{1,20})_([0-9]{1,10})_([0-9]{1,20})-.+"
)
"""Purpose; boot id, pid namespace, pid and start time of the harness."""


def owned_folder(purpose: str) -> "tempfile.TemporaryDirectory[str]":
    """Make a temporary folder of this process; the purpose is a word in its name."""
    owner = this_owner()
    one = owner.process
    name = f"{one.boot}_{owner.namespace}_{one.pid}_{one.start_time}"
    return tempfile.TemporaryDirectory(prefix=f"kraftproof-{purpose}-{name}-")


def sweep() -> list[str]:
    """Remove the temporary folders of this user's dead harnesses; return a line for each."""
    lines = []
    for path in sorted(Path(tempfile.gettempdir()).glob("kraftproof-*")):
        owner = _owner_of(path)
        if owner is not None and owner.life in DEAD:
            shutil.rmtree(path, ignore_errors=True)
            result = "not removed" if path.exists() else "removed"
            lines.append(f"folder {path}: its owner {owner.process.pid} is gone, {result}")
    return lines


def _owner_of(path: Path) -> Owner | None:
    match = NAME.fullmatch(path.name)
    if match is None or path.is_symlink() or path.stat().st_uid != os.getuid():
        return None
    boot, namespace, pid, start_time = match.groups()
    process = Identity(boot=boot, pid=int(pid), start_time=int(start_time))
    return Owner(namespace=namespace, process=process)
