"""A harness to be killed: brings a cluster up, says so, and waits.

`python -m tests.docker.harness DIRECTORY`
"""

import asyncio
import sys
from pathlib import Path

from tests.docker.conftest import make


async def main(directory: Path) -> None:
    cluster = await make(directory, 1, 1)
    await cluster.start()
    sys.stdout.write(f"{cluster.bootstrap()}\n")
    sys.stdout.flush()
    await asyncio.sleep(120)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
