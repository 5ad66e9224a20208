"""Runs of `kraftproof test` with real Kafka nodes, and the batches of their logs. No tests here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = "12"
UNDER_FAULTS = (
    *("--nemesis", "kill,pause", "--fault-every", "5", "--min-bites", "1", "--time-limit", "20"),
)
"""Three faults of more than a second: on a busy machine two had no operation that succeeded."""
LONGEST_S = 200


def run(store: Path, *arguments: str) -> dict[str, Any]:
    """Do a run, and return its result."""
    command = (sys.executable, "-m", "kraftproof", "test", "--json", "--store", str(store))
    done = subprocess.run(
        [*command, "--time-limit", SECONDS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def end_of_batch(log: bytes, start: int) -> int:
    """Return the place after a batch, which has an offset of 8 bytes and a length of 4 first."""
    return start + 12 + int.from_bytes(log[start + 8 : start + 12], "big")
