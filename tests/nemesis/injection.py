"""One fault injected into a simulated cluster, with what was observed when each phase began."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kraftproof.cluster.protocol import Capability, ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.nemesis.catalogue import planner
from kraftproof.nemesis.injector import Injector
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled


@dataclass
class Log:
    observe: Callable[[], object]
    rows: list[tuple[str, str]] = field(default_factory=list)
    observed: dict[str, object] = field(default_factory=dict)

    def write(self, phase, name, kind, targets, detail):
        self.rows.append((phase, detail))
        self.observed[phase] = self.observe()

    @property
    def phases(self):
        return [phase for phase, _ in self.rows]


def raise_error(error):
    raise error


def drawn(kind, seed):
    options = ClusterOptions(nodes=nodes_of(controller=3, broker=2), seed=seed, directory=None)
    return planner(kind)(Random(seed), options.nodes)


def injected(directory, fault, seconds=8, observe=lambda cluster: None):
    cluster = SimulatedCluster(
        ClusterOptions(
            nodes=nodes_of(controller=3, broker=2),
            seed=5,
            directory=directory,
            needs=frozenset({fault.requires}),
            has_data=fault.requires is Capability.FAILED_DIRECTORY,
        )
    )
    log = Log(lambda: observe(cluster))

    async def roles():
        return {}

    async def main():
        await cluster.start()
        injector = Injector(cluster, roles, log, raise_error)
        injector.start(
            (
                Scheduled(
                    name="f0",
                    kind=fault.kind,
                    at_ns=0,
                    until_ns=seconds * SECOND_NS,
                    fault=fault,
                ),
            )
        )
        await injector.finish()
        await cluster.quiesce()

    cluster.run(main())
    return cluster, log
