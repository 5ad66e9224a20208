"""Pause the controllers of Kafka, and see how much CPU time its brokers use meanwhile.

    python examples/findings/spinning_broker.py --version 4.3.0

One controller and two brokers run without any client. The script prints the share of one core that
each broker's threads used for some seconds before and some seconds within a pause of the
controller, and the busiest thread. See docs/findings/0005.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.run.backends import make_backend, with_cluster

SECOND_NS = 1_000_000_000
CONTROLLER, BROKERS = 1, (2, 3)
BUSY = 0.2
"""Share of one core above which a broker without clients is busy."""
TICKS = os.sysconf("SC_CLK_TCK")


def ticks_of(pid):
    """Return the CPU time of each thread of a process so far, by name, in ticks."""
    used = Counter()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        name, _, rest = (thread / "stat").read_text().partition("(")[2].rpartition(")")
        fields = rest.split()
        used[name] += int(fields[11]) + int(fields[12])
    return used


def process_of(folder, broker):
    """Return the process of a broker, by the file of settings in its command."""
    wanted = str(folder / "nodes" / str(broker) / "server.properties").encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in command:
            return int(process.name)
    raise LookupError(f"no process of broker {broker}")


async def shares(cluster, folder, seconds):
    """Return the share of one core of each broker, and its busiest thread."""
    before = {broker: ticks_of(process_of(folder, broker)) for broker in BROKERS}
    await cluster.scope.sleep(seconds * SECOND_NS)
    found = {}
    for broker in BROKERS:
        used = ticks_of(process_of(folder, broker)) - before[broker]
        (name, _), *_ = used.most_common(1) or [("none", 0)]
        found[broker] = sum(used.values()) / TICKS / seconds
        print(f"  broker {broker}: {found[broker]:.2f} of a core, most by {name}")
    return found


async def pause(cluster, folder, seconds):
    """Look at the brokers before a pause of the controller, within the pause, and after."""
    await cluster.scope.sleep(seconds * SECOND_NS)
    print("controller up:")
    await shares(cluster, folder, seconds)
    await cluster.pause(CONTROLLER)
    await cluster.scope.sleep(3 * SECOND_NS)
    print("controller paused:")
    found = await shares(cluster, folder, seconds)
    await cluster.resume(CONTROLLER)
    await cluster.scope.sleep(5 * SECOND_NS)
    print("controller up again:")
    await shares(cluster, folder, seconds)
    return found


def main():
    """Run once; return 1 if a broker was busy within the pause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="4.3.0")
    parser.add_argument("--seconds", type=int, default=10)
    asked = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="spinning-broker-") as directory:
        folder = Path(directory)
        options = ClusterOptions(
            nodes=nodes_of(controller=1, broker=2),
            seed=0,
            directory=folder,
            backend="local",
            system_version=asked.version,
        )

        async def run(cluster):
            async def up():
                found.update(await pause(cluster, folder, asked.seconds))

            await with_cluster(cluster, up)

        make_backend("local").run(options, ApacheKafka(), run, print)
    return 1 if max(found.values()) > BUSY else 0


if __name__ == "__main__":
    sys.exit(main())
