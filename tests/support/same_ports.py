"""Hold a cluster of examples/kv on given ports until standard input ends.

`python -m tests.support.same_ports STORE PORT...` stands for a second harness that does not see
the leases of the first, as one with another XDG_RUNTIME_DIR or of another user.
"""

import asyncio
import sys
from pathlib import Path
from unittest import mock

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.registry import make_system

KV = f"{Path(__file__).resolve().parents[2]}/examples/kv/system.py:KV"


def given(ports):
    """Return a stand-in for the search of free ports that finds these."""
    return mock.patch("kraftproof.cluster.local.ports._free", return_value=tuple(ports))


async def held(store):
    options = ClusterOptions(nodes=nodes_of(server=3), seed=1, directory=Path(store))
    cluster = LocalCluster(options, LiveScope(), make_system(KV))
    try:
        await cluster.start()
        sys.stdout.write("up\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await cluster.stop()


if __name__ == "__main__":
    with given(map(int, sys.argv[2:])):
        asyncio.run(held(sys.argv[1]))
