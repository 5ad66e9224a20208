"""Measures the harness alone: operations a second of CPU through one interpreter, in virtual time.

`python -m bench.interpreter`: clients of a null system answer at once. Each operation takes the way
of every run: pacer, workload, process, guards against plug-ins, and a line of the history for its
call and its answer. No node runs, and no history is checked.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from random import Random
from typing import ClassVar

from typing_extensions import override

from bench.simulation.runs import recorded
from kraftproof.cluster.protocol import Cluster, ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.cluster.systems.outcome import Completion, Outcome, Value
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.cluster.systems.system import Client
from kraftproof.run.history import FaultRecorder
from kraftproof.run.interpreter.interpreter import Interpreted, Interpreter
from kraftproof.workloads.register import Register
from kraftproof.workloads.workload import Load

NS_PER_S = 1_000_000_000
RATE = 20_000.0
CLIENTS = 50
DONE = Completion(outcome=Outcome.OK)


class NullClient:
    """A client that answers each operation at once."""

    node = None

    async def open(self) -> None:
        """Connect to nothing."""

    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        """Return a success; a read returns null."""
        del f, key, value
        return DONE

    def close(self) -> None:
        """Drop nothing."""


class NullSystem(ReferenceSystem):
    """The reference system with clients that ask no node."""

    workloads: ClassVar[tuple[str, ...]] = ("register",)

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        return NullClient()


def measure(seconds: float, seed: int) -> float:
    """Return the operations a second of CPU in a run of so many virtual seconds."""
    with recorded() as (history, directory):
        options = ClusterOptions(
            nodes=nodes_of(controller=1, broker=1),
            seed=seed,
            directory=Path(directory),
            is_collected=False,
        )
        cluster = SimulatedCluster(options)
        interpreter = Interpreter(
            cluster,
            NullSystem(),
            (),
            history(cluster.scope.now),
            FaultRecorder(directory / "faults.jsonl", cluster.scope.now),
        )
        load = Load(rate=RATE, concurrency=CLIENTS, session_ns=NS_PER_S)

        async def main() -> Interpreted:
            limit_ns = int(seconds * NS_PER_S)
            return await interpreter.run(Register(), load, seed=seed, time_limit_ns=limit_ns)

        begun_s = time.process_time()
        done = cluster.run(main())
        cpu_s = time.process_time() - begun_s
        interpreter.history.close()
        interpreter.faults.close()
    return len(done.operations) / cpu_s


def main() -> int:
    """Print the operations a second of each run, and their median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="virtual seconds of a run")
    asked = parser.parse_args()
    found = [measure(asked.seconds, seed) for seed in range(asked.runs)]
    print(", ".join(f"{rate:,.0f}" for rate in found))
    print(f"median {statistics.median(found):,.0f} operations a second of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
