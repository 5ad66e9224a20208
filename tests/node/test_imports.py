"""A starting node loads no module that only few nodes need: each node pays for it in memory."""

import subprocess
import sys

PROGRAM = """
import sys
import kraftproof.node.server.main
import kraftproof.node.server.node_process
print(*sys.modules)
"""
SELDOM = {
    "email": "importlib.metadata of crc32c 2.8",
    "importlib.metadata": "crc32c 2.8",
    "prometheus_client": "a node without metrics.listener",
    "pyarrow": "a node without compressed batches",
    "scramp": "a node without SCRAM",
}
"""Modules, and who loads them needlessly."""


def test_a_node_loads_no_module_that_it_may_never_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert "kraftproof.node.core.node" in loaded
    assert SELDOM.keys() & loaded == set()
