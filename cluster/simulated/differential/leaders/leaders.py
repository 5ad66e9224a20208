"""Compare the leader of a partition with a model, over drawn requests of all its clients."""

from collections.abc import Callable
from copy import copy
from functools import partial
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.leaders.changes import LARGEST, Changes
from kraftproof.cluster.simulated.differential.leaders.deletions import Deletions
from kraftproof.cluster.simulated.differential.leaders.fetches import Fetches
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelLeader
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LEADER, LeaderRig
from kraftproof.cluster.simulated.differential.leaders.look_ups import LookUps
from kraftproof.cluster.simulated.differential.leaders.produces import Produces

NO_LEADER: Final = -1
FOLLOWERS: Final = ((2, 3), (0, 2), (3, 0))
STEPS: Final = 120
"""Number of requests and changes in a comparison."""
PLANS: Final = 0.03
"""Share of the steps that plan a deletion amid Fetches of all followers."""


def compare_leaders(random: Random) -> None:
    """Send drawn requests to a leader, and compare each answer with the model.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    others = copy(random).choice(FOLLOWERS)  # so that recorded seeds keep their runs
    replicas = (int(LEADER), *others)[: random.choice((1, 2, 3))]
    epoch, flushes = random.choice((1, 4)), random.random() < 0.5
    configs = {"max.message.bytes": str(LARGEST)} | ({"flush.messages": "1"} if flushes else {})
    rig = LeaderRig(replicas, epoch, configs)
    model = ModelLeader(replicas[1:], epoch, largest=LARGEST, flushes=flushes)
    produces, fetches = Produces(rig, model, random), Fetches(rig, model, random)
    changes = Changes(rig, model, random)
    look_ups, deletions = LookUps(rig, model, random), Deletions(rig, model, random)
    steps = [
        *(produces.produce,) * 6,
        *(fetches.consume,) * 3,
        *(fetches.follow,) * 6,
        *(look_ups.offsets,) * 4,
        *(look_ups.epoch_ends, look_ups.producers, look_ups.sizes),
        *(deletions.delete,) * 2,
    ]
    planned: list[Callable[[], None]] = []
    for _ in range(STEPS):
        kind = random.random()
        if kind < 0.1 and model.flushes:
            model.flushed = model.end
            rig.flush()
        elif 0.1 <= kind < 0.16:
            changes.change()
        elif 0.16 <= kind < 0.2:
            rig.pass_time(random.choice((1, 49, 400)))
            produces.expire()
            deletions.expire()
        elif planned:
            planned.pop()()
        elif 0.2 <= kind < 0.2 + PLANS:
            planned = _around_deletion(sorted(model.followers), fetches, deletions, random)
            planned.append(produces.produce)
        else:
            random.choice(steps)()
        model.settle()
        produces.settle()
        deletions.settle()
        look_ups.settle()
    rig.lose(random.choice((NO_LEADER, *replicas[1:])))
    produces.lose()
    deletions.lose()


def _around_deletion(
    followers: list[int], fetches: Fetches, deletions: Deletions, random: Random
) -> list[Callable[[], None]]:
    """Return steps, the last one first: all followers fetch from the end around a deletion.

    The deletion waits for the starts of the logs, which some followers tell late (KIP-107).
    """

    def follow(share: float) -> list[Callable[[], None]]:
        return [
            partial(fetches.follow_at_end, each, tells_start=random.random() < share)
            for each in random.sample(followers, len(followers))
        ]

    return [*follow(1), *follow(0.5), deletions.delete, *follow(0.5)]
