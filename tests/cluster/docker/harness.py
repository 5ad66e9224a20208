"""A harness to be killed: brings a cluster up, says so, and waits.

`python -m tests.cluster.docker.harness DIRECTORY`
"""

import asyncio
import sys
from pathlib import Path

from kraftproof.cluster.protocol import ClusterError
from tests.cluster.docker.conftest import make


async def main(directory: Path) -> None:
    cluster = await make(directory, 1, 1)
    try:
        await cluster.start()
    except ClusterError as error:
        sys.exit(f"harness: {error}")
    sys.stdout.write(f"{cluster.bootstrap()}\n")
    sys.stdout.flush()
    await asyncio.sleep(120)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
