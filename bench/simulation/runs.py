"""One run of 3+3 whole nodes under a seed's faults, while clients create topics, and its cost."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.simulation.workloads import CLIENTS, Creates
from kraftproof.cluster.profiles import PROFILES
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.cluster.systems.registry import make_system
from kraftproof.nemesis.schedule import dense
from kraftproof.node.properties.keys import SNAPSHOT_BYTES_KEY, SNAPSHOT_INTERVAL_KEY
from kraftproof.run.history import FaultRecorder, HistoryRecorder
from kraftproof.run.interpreter.interpreter import Interpreted, Interpreter
from kraftproof.search.scenario import scenario
from kraftproof.workloads.workload import Load, Outcome

BY_DEFAULT = ((SNAPSHOT_BYTES_KEY, str(20 << 20)), (SNAPSHOT_INTERVAL_KEY, "3600000"))
"""Snapshot options of a default node; seeds also draw smaller snapshots."""
OFTEN = ((SNAPSHOT_BYTES_KEY, "100000"),)
"""So that logs are cleaned, as in a node that has been up for long."""
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run."""

    seed: int
    simulated_s: float
    cpu_s: float
    events: int
    committed: int


@contextmanager
def recorded() -> Iterator[tuple[Callable[[Callable[[], int]], HistoryRecorder], Path]]:
    """A directory for the history of a run, which nobody reads."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory)
        yield (lambda now: HistoryRecorder(path / "history.jsonl", now)), path


def run(
    seed: int,
    rate: float,
    time_limit_s: float,
    *,
    watch: Callable[[SimulatedCluster], None] | None = None,
    workload: Creates | None = None,
    node_config: tuple[tuple[str, str], ...] = BY_DEFAULT,
) -> Measured:
    """Simulate a cluster under the faults of a seed, and judge the invariants.

    Args:
        seed: the seed of the faults, the nodes and the clients.
        rate: createTopics a second.
        time_limit_s: simulated seconds of the workload.
        watch: is called with the cluster after its start.
        workload: what the clients do; by default they create topics.
        node_config: entries of server.properties.

    Raises:
        InvariantViolatedError: an invariant is violated, so the run has no measurement.
    """
    clients = workload or Creates()
    drawn = scenario(
        seed, Path("unused"), time_limit_s=time_limit_s, nodes=(3, 3), workload=clients.name
    ).options
    with recorded() as (history, directory):
        options = ClusterOptions(
            nodes=nodes_of(controller=3, broker=3),
            seed=seed,
            directory=directory,
            is_collected=False,
            node_config=node_config,
            has_data=clients.has_data,
        )
        cluster = SimulatedCluster(options)
        system = make_system("reference")
        time_limit_ns = int(time_limit_s * NS_PER_S)
        schedule = dense(drawn.nemeses, cluster.nodes, Random(f"schedule {seed}"), time_limit_ns)
        interpreter = Interpreter(
            cluster,
            system,
            schedule,
            history(cluster.scope.now),
            FaultRecorder(directory / "faults.jsonl", cluster.scope.now),
        )
        load = Load(rate=rate, concurrency=CLIENTS, session_ns=PROFILES["chaos"].session_ns)

        async def main() -> Interpreted:
            await cluster.start()
            if watch is not None:
                watch(cluster)
            done = await interpreter.run(clients, load, seed=seed, time_limit_ns=time_limit_ns)
            await cluster.quiesce()
            return done

        started_s = time.process_time()
        done = cluster.run(main())
        cpu_s = time.process_time() - started_s
        interpreter.history.close()
        interpreter.faults.close()
    return Measured(
        seed=seed,
        simulated_s=cluster.simulated_ns / NS_PER_S,
        cpu_s=cpu_s,
        events=cluster.events,
        committed=sum(one.outcome is Outcome.OK for one in done.operations),
    )
