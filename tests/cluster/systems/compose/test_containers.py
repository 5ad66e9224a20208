"""Runs of the examples of docs/systems.md: services of a Compose file, testcontainers objects."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import connect

pytestmark = pytest.mark.docker
EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
COMPOSE = f"compose:{EXAMPLES}/compose/docker-compose.yml"
CONTAINERS = f"{EXAMPLES}/kv/containers.py:ContainerKV"
LONGEST_S = 120


def run(store: Path, system: str, *arguments: str) -> dict[str, Any]:
    ensure_base(connect(None), lambda _: None)
    command = (sys.executable, "-m", "kraftproof", "test", "--json", "--backend", "docker")
    faults = ("--workload", "register", "--time-limit", "7", "--fault-every", "3")
    done = subprocess.run(
        [*command, "--system", system, "--store", str(store), *faults, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
        env={**os.environ, "PYTHON_IMAGE": base_tag()},
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "system",
    [
        pytest.param(COMPOSE, id="compose"),
        pytest.param(CONTAINERS, id="testcontainers", marks=pytest.mark.long),
    ],
)
def test_nodes_of_both_kinds_are_killed_and_the_lost_writes_are_found(
    system: str, tmp_path: Path
) -> None:
    # The servers keep nothing on disk: a kill loses writes, and the check has to find that.
    result = run(tmp_path, system, "--nemesis", "kill", "--min-bites", "1")
    assert result["verdict"] == "invalid", str(result)
    assert result["bitten"]["kill"] >= 1
