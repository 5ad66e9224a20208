"""Name of a run outside of its own machine: at a container engine, on hosts behind ssh."""

import re
import secrets
from pathlib import Path


def run_name(directory: Path) -> str:
    """Return a name for a run that no other run has."""
    readable = re.sub(r"[^a-zA-Z0-9_.-]+", "-", directory.absolute().name)[:40]
    return f"{readable}-{secrets.token_hex(4)}"
