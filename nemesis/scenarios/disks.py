"""Fault scenarios of disks: acknowledged data after a failed fsync, and disks that fill up."""

from collections.abc import Sequence
from random import Random

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.disk import DiskError, DiskFull
from kraftproof.nemesis.lose_unsynced import LoseUnsynced
from kraftproof.nemesis.scenarios.steps import ACTIVE, MOST_STANDBYS, FaultStep, standby


def believed_written(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """An fsync fails; the node restarts, reads data that was never synced, and loses power."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    victim = random.choice(controllers)
    failing = DiskError(target=victim, trouble=DiskFault(failure="fsync"))
    failing_s = random.uniform(0.1, 0.8)
    dark_s = failing_s + random.uniform(0.02, 1.0)
    others = random.sample(controllers, random.randrange(len(controllers)))
    victims = tuple(sorted({victim, *others}))
    return [
        (0.0, failing_s, failing),
        (dark_s, dark_s + random.uniform(0.1, 0.8), LoseUnsynced(victims=victims)),
    ]


def full_one_by_one(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader's disk fills up, then the successor's disk, before the first has space again."""
    del nodes
    full = DiskFault(failure="full")
    first_s, second_s = random.uniform(0.2, 2.0), random.uniform(0.4, 2.0)
    successor = random.choice((ACTIVE, standby(random.randrange(MOST_STANDBYS))))
    return [
        (0.0, first_s + random.uniform(0.0, 1.0), DiskFull(target=ACTIVE, trouble=full)),
        (first_s, first_s + second_s, DiskFull(target=successor, trouble=full)),
    ]
