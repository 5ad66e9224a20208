"""A harness to be killed: cuts a link of a cluster on hosts, says so, and waits.

`python -m tests.cluster.ssh.harness HOSTS DIRECTORY`
"""

import asyncio
import sys
from pathlib import Path

from kraftproof.cluster.protocol import Link
from tests.cluster.ssh.conftest import make


async def main(hosts: Path, directory: Path) -> None:
    cluster = await make(hosts, directory)
    await cluster.start()
    await cluster.cut(frozenset({Link(2, 1)}))
    await cluster.pause(3)
    sys.stdout.write("cut\n")
    sys.stdout.flush()
    await asyncio.sleep(120)


if __name__ == "__main__":
    asyncio.run(main(*map(Path, sys.argv[1:])))
