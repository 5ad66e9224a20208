"""A service that waits for another one, which ends: the run says so at once."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.compose.system import compose_system
from kraftproof.cluster.systems.system import SystemUnavailableError
from kraftproof.images.base import ensure_base
from kraftproof.images.context import connect

pytestmark = pytest.mark.docker
LONGEST_S = 280.0
"""The other service would be waited for until `ready_s`, 300 s."""
FILE = """
services:
  web:
    image: IMAGE
    command: sleep 600
    expose: [80]
    depends_on: {db: {condition: service_healthy}}
  db:
    image: IMAGE
    command: ["sh", "-c", "sleep 5; echo read config; echo no licence; exit 3"]
    expose: [80]
    healthcheck: {test: "true", interval: 1h}
"""
CLIENT = """
from kraftproof.cluster.systems.compose.client import ComposeClient

class Mine(ComposeClient):
    workloads = ("register",)
    ready_s = 300.0
"""


def test_a_wait_for_a_service_without_a_health_check_is_refused(tmp_path: Path) -> None:
    image = ensure_base(connect(None), lambda _: None)
    path = tmp_path / "docker-compose.yml"
    check = '    healthcheck: {test: "true", interval: 1h}\n'
    assert check in FILE
    path.write_text(FILE.replace("IMAGE", image).replace(check, ""))
    (tmp_path / "client.py").write_text(CLIENT)
    system = compose_system(f"compose:{path}#{tmp_path}/client.py:Mine")
    with pytest.raises(SystemUnavailableError) as refused:
        system.provide(ClusterOptions(nodes=nodes_of(web=1, db=1), seed=1, directory=tmp_path))
    assert str(refused.value) == (
        f"{path}: services.web.depends_on: db has no health check, neither in the file nor in its "
        f"image {image}: give services.db.healthcheck, or take condition: service_started"
    )


def test_a_service_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    image = ensure_base(connect(None), lambda _: None)
    path = tmp_path / "docker-compose.yml"
    path.write_text(FILE.replace("IMAGE", image))
    (tmp_path / "client.py").write_text(CLIENT)
    begun = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kraftproof", "test", "--backend", "docker"),
            *("--system", f"compose:{path}", "--client", f"{tmp_path}/client.py:Mine"),
            *("--workload", "register", "--nemesis", "none", "--store", str(tmp_path / "store")),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * LONGEST_S,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert (
        "the system compose does not become ready: node 1 waits until node 2 is healthy; "
        "node 2 ended with status 3: read config / no licence"
    ) in done.stdout
    assert time.monotonic() - begun < LONGEST_S
