"""`kraftproof up`: a cluster to play with, until Ctrl-C."""

from typing import Annotated

import typer

from kraftproof import interrupts
from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions, parse_nodes
from kraftproof.output import complain, say

POLL_NS = 3_600_000_000_000


def up(
    backend: Annotated[str, typer.Option(help="local or docker.")] = "local",
    nodes: Annotated[str, typer.Option(help="Controllers+brokers.")] = "3+3",
    timeouts: Annotated[
        str, typer.Option(help="chaos (failures show within seconds) or default (the KIPs').")
    ] = "default",
    seed: Annotated[int, typer.Option(help="Draws the cluster's id.")] = 0,
) -> None:
    """Bring a cluster up and print its bootstrap addresses until Ctrl-C.

    [bold]kraftproof up --nodes 1+1[/]
    Prints host:port of the brokers on standard output, for any Kafka client.

    Ctrl-C (or SIGTERM) ends every node and removes what they wrote.
    """
    controllers, brokers = parse_nodes(nodes)
    if backend == "simulated":
        raise UsageError("--backend simulated: has no addresses; use local or docker")
    with temporary_directory("kraftproof-up-") as directory:
        options = RunOptions(
            backend=backend,
            controllers=controllers,
            brokers=brokers,
            timeouts=timeouts,
            seed=seed,
            store=directory,
        )
        try:
            _serve(options)
        except KeyboardInterrupt:
            interrupts.note("the cluster is taken down")
            raise


def _serve(options: RunOptions) -> None:
    from kraftproof.cluster.protocol import Cluster
    from kraftproof.run.backends import make_backend, with_cluster
    from kraftproof.run.runner import cluster_options

    async def main(cluster: Cluster) -> None:
        async def wait() -> None:
            say(cluster.bootstrap())
            complain("up; Ctrl-C takes all down")
            while True:
                await cluster.scope.sleep(POLL_NS)

        await with_cluster(cluster, wait)

    make_backend(options.backend).run(cluster_options(options, None), main, complain)
