"""`kraftproof up`: start a cluster, and keep the cluster up until Ctrl-C."""

from typing import Annotated

import typer

from kraftproof import interrupts
from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.cluster.backends import LIVE
from kraftproof.cluster.compose_reference import absolute_system
from kraftproof.commands.test import HostsOption
from kraftproof.errors import UsageError
from kraftproof.options import NODES_HELP, RunOptions
from kraftproof.output import print_error, print_line

POLL_NS = 3_600_000_000_000


def up(
    backend: Annotated[str, typer.Option(help="local, docker or ssh.")] = "local",
    hosts: HostsOption = None,
    system: Annotated[
        str, typer.Option(help="What to bring up: a name, or path/to/file.py:Class.")
    ] = "reference",
    system_version: Annotated[
        str | None,
        typer.Option(help="Release of the system, if there is a choice.", metavar="VERSION"),
    ] = None,
    nodes: Annotated[str, typer.Option(help=NODES_HELP)] = "",
    timeouts: Annotated[
        str,
        typer.Option(help="chaos (failures are detected within seconds) or default (Kafka's)."),
    ] = "default",
    seed: Annotated[int, typer.Option(help="Seed of the cluster id.")] = 0,
) -> None:
    """Start a cluster, print its bootstrap addresses, and keep the cluster up until Ctrl-C.

    [bold]kraftproof up --nodes 1+1[/]
    Prints host:port of the nodes that serve clients on standard output.

    Ctrl-C or SIGTERM ends all nodes and removes their files.
    """
    if backend not in LIVE:
        raise UsageError(f"--backend {backend}: has no addresses; use {' or '.join(LIVE)}")
    with temporary_directory("kraftproof-up-") as directory:
        options = RunOptions(
            backend=backend,
            hosts=hosts,
            system=absolute_system(system),
            system_version=system_version,
            nodes=nodes,
            timeouts=timeouts,
            seed=seed,
            store=directory,
        )
        try:
            _serve(options)
        except KeyboardInterrupt:
            interrupts.note("the cluster is stopped")
            raise


def _serve(options: RunOptions) -> None:
    from kraftproof.cluster.protocol import Cluster
    from kraftproof.cluster.systems.registry import make_system
    from kraftproof.run.backends import make_backend, with_cluster
    from kraftproof.run.planning import cluster_options, refuse_system, with_default_workload

    async def main(cluster: Cluster) -> None:
        async def wait() -> None:
            print_line(cluster.bootstrap())
            print_error("the cluster is up; Ctrl-C stops it")
            while True:
                await cluster.scope.sleep(POLL_NS)

        await with_cluster(cluster, wait)

    options = with_default_workload(options)
    system = make_system(options.system)
    requested = cluster_options(options, None, system)
    refuse_system(options, system, requested)
    make_backend(options.backend).run(requested, system, main, print_error)
