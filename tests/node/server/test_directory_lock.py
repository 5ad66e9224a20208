"""Two processes never write in one log directory: the second is refused in one line."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.node.server.conftest import CLUSTER_ID, LiveNode

if TYPE_CHECKING:
    from tests.node.server.conftest import LiveCluster


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_second_process_on_a_directory_is_refused_until_the_first_is_gone(
    live: "Callable[[int, int], LiveCluster]",
) -> None:
    cluster = live(1, 0)
    [node] = cluster.nodes
    assert node.process is not None
    data, pid = node.directory / "data", node.process.pid
    refusal = f"{data}: is in use by process {pid}, which holds .lock there"
    second = run("kraftproof.node.server.main", str(node.properties))
    assert second.returncode == 1
    [line] = second.stderr.splitlines()
    assert refusal in line
    formatting = ("format", "-c", str(node.properties), "-t", CLUSTER_ID, "-g")
    formatted = run("kraftproof.node.tools.storage", *formatting)
    assert formatted.returncode == 1
    assert refusal in formatted.stderr
    assert node.process.poll() is None, node.output
    node.end()  # by kill -9, which lets go of the lock
    assert run("kraftproof.node.tools.storage", *formatting).returncode == 0
    again = LiveNode(node.directory, node.port)
    cluster.nodes[:] = [again]
    again.start()
    cluster.await_brokers(1)
