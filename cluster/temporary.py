"""Remove the temporary folders of dead harnesses; `owned_folder` puts the owner into the name."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

from kraftproof.cluster.owner import Life, Owner
from kraftproof.cluster.processes import Identity
from kraftproof.images.folders import cache_base

DEAD: Final = frozenset({Life.DEAD, Life.OTHER_BOOT})
NAME: Final = re.compile(
    r"kraftproof-[a-z]+-([0-9a-f-]{36})_([0-9]{1,20})_([0-9]{1,10})_([0-9]{1,20})-.+"
)
"""Purpose; boot id, pid namespace, pid and start time of the harness."""


def sweep() -> list[str]:
    """Remove the temporary folders of this user's dead harnesses; return a line for each."""
    lines = []
    places = (Path(tempfile.gettempdir()), cache_base(), cache_base() / "go")
    for path in (path for place in places for path in sorted(place.glob("kraftproof-*"))):
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
