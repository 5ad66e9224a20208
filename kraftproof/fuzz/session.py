"""Run a campaign or a replay on a fresh cluster, or on the addresses of a user."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.reference.requests.case import Case
from kraftproof.cluster.systems.reference.requests.sockets import Place
from kraftproof.cluster.systems.reference.requests.target import Target
from kraftproof.cluster.systems.registry import make_system
from kraftproof.fuzz.campaign import Campaign, Finding, Progress, joined
from kraftproof.fuzz.shrink import shrink
from kraftproof.options import RunOptions
from kraftproof.output import print_error
from kraftproof.run.backends import ViolationError, make_backend, with_cluster
from kraftproof.run.planning import cluster_options

SNAPSHOT_BYTES = ("metadata.log.max.record.bytes.between.snapshots", "1000000")
"""Frequent snapshots keep the log in a node's memory small."""
SHRINK_TRIES = 60
SHRINK_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions:
    """The target and the size of a campaign."""

    backend: str
    nodes: str
    seed: int
    frames: int
    time_limit_s: float | None
    mutant: str | None
    places: tuple[Place, ...] = ()
    """Addresses of running brokers; empty: a fresh cluster of the backend."""


Work = Callable[[Campaign], Awaitable[Finding | None]]


def campaign(
    options: FuzzOptions, progress: Progress, tell: Callable[[int], None]
) -> Finding | None:
    """Send random frames; return the first finding.

    Raises:
        ClusterError: the cluster does not start, or no broker answers at the addresses.
    """
    limit_s = options.time_limit_s
    until = None if limit_s is None else time.monotonic() + limit_s

    def is_over() -> bool:
        return until is not None and time.monotonic() >= until

    return _run(options, progress, lambda one: one.run(options.seed, options.frames, is_over, tell))


def replay(options: FuzzOptions, case: Case) -> Finding | None:
    """Send the frames of a case; return the first finding.

    Raises:
        ClusterError: the cluster does not start, or has not the nodes of the case.
    """
    return _run(options, Progress(), lambda one: one.replay(case))


def smaller(options: FuzzOptions, finding: Finding) -> Case:
    """Return a smaller case with the same kind of finding; each try has a fresh cluster."""
    until = time.monotonic() + SHRINK_SECONDS

    def fails(case: Case) -> bool:
        if time.monotonic() > until or not case.sends:
            return False
        found = replay(options, case)
        return found is not None and found.kind == finding.kind

    return shrink(finding.case, fails, SHRINK_TRIES)


def _run(options: FuzzOptions, progress: Progress, work: Work) -> Finding | None:
    try:
        if options.places:
            return _run_at(options.places, progress, work)
        return _run_on_fresh(options, progress, work)
    except ViolationError as error:
        return Finding(node_id=0, reason=str(error), case=joined(progress.recent))


def _run_on_fresh(options: FuzzOptions, progress: Progress, work: Work) -> Finding | None:
    with temporary_directory("kraftproof-fuzz-") as directory:
        run_options = RunOptions(
            backend=options.backend,
            nodes=options.nodes,
            timeouts="default",
            seed=options.seed,
            mutant=options.mutant,
            node_config=(SNAPSHOT_BYTES,),
            store=directory,
        )
        system = make_system(run_options.system)
        found: list[Finding | None] = []

        async def main(cluster: Cluster) -> None:
            async def send() -> None:
                found.append(await _work(Target.of_cluster(cluster), progress, work))

            await with_cluster(cluster, send)

        requested = cluster_options(run_options, None, system, is_collected=False)
        make_backend(options.backend).run(requested, system, main, print_error)
        return found[0]


def _run_at(places: tuple[Place, ...], progress: Progress, work: Work) -> Finding | None:
    async def whole() -> Finding | None:
        scope = LiveScope()
        try:
            return await _work(Target.of_addresses(places, scope), progress, work)
        finally:
            await scope.cancel_rest()

    return asyncio.run(whole())


async def _work(target: Target, progress: Progress, work: Work) -> Finding | None:
    try:
        return await work(Campaign(target, progress))
    except (ConnectionFailed, OutcomeUnknown) as error:
        raise ClusterError(f"no broker answers: {error}") from error
