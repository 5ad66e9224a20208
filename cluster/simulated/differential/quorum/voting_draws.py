"""Draw a voter, and what other members of the quorum ask and answer."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.quorum.fetching_answers import NOT_LEADER, STRANGER
from kraftproof.cluster.simulated.differential.quorum.fetching_model import MS, NOBODY
from kraftproof.cluster.simulated.differential.quorum.voter_state import LAST_EPOCH
from kraftproof.cluster.simulated.differential.quorum.voting_messages import CLUSTER, END, VOTE
from kraftproof.cluster.simulated.differential.quorum.voting_model import (
    Asking,
    Heard,
    VotingModel,
)
from kraftproof.node.core.base.config import Endpoint, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import NodeId

OBSERVER: Final = 8
LISTENERS: Final = (("CONTROLLER", True), ("CLIENT", False), ("CONTROLLER_2", True))


def draw_voter(random: Random) -> tuple[NodeConfig, int, tuple[int, ...]]:
    """Draw the configuration of a member, its id, and the voters."""
    voters = tuple(range(1, random.choice((1, 2, 3, 3, 3, 4, 5)) + 1))
    own = OBSERVER if random.random() < 0.06 else random.choice(voters)
    times = Timeouts(
        election_ns=random.choice((300, 1000)) * MS,
        election_backoff_max_ns=random.choice((200, 1000)) * MS,
        fetch_ns=random.choice((400, 900)) * MS,
        request_ns=random.choice((350, 2000)) * MS,
        retry_backoff_ns=random.choice((7, 20)) * MS,
        retry_backoff_max_ns=random.choice((50, 1000)) * MS,
    )
    config = NodeConfig(
        node_id=NodeId(own),
        cluster_id=CLUSTER,
        is_controller=own in voters,
        is_broker=own not in voters,
        voters=tuple(Voter(node_id=NodeId(v), host=f"h{v}", port=v) for v in voters),
        endpoints=tuple(
            Endpoint(name=name, host="here", port=port, is_controller=is_controller)
            for port, (name, is_controller) in enumerate(LISTENERS, start=9)
        ),
        timeouts=times,
    )
    return config, own, voters


def draw_asking(random: Random, model: VotingModel, kind: str) -> Asking:
    """Draw the content of a request of another member."""
    others = model.peers or (STRANGER,)
    epoch = model.epoch + random.choice((0, 0, 0, 1, 1, 2, -1))
    asking = Asking(epoch=min(epoch, LAST_EPOCH), other=random.choice(others))
    if epoch == model.epoch and model.led_by in model.peers and random.random() < 0.7:
        asking.other = model.led_by
    if random.random() < 0.08:
        asking.other = random.choice((STRANGER, NOBODY, model.own) if kind != VOTE else (STRANGER,))
    asking.voter = random.choice((model.own, model.own, NOBODY))
    if random.random() < 0.04:
        asking.voter = STRANGER
    if kind == VOTE:
        asking.is_pre_vote = random.random() < 0.04
        ours = (model.last_epoch, model.end)
        changes = ((0, 0), (0, 0), (0, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
        change = random.choice(changes)
        asking.log = (ours[0] + change[0], ours[1] + change[1])
    elif kind == END:
        successors = [*model.peers, model.own]
        random.shuffle(successors)
        if random.random() < 0.08:
            successors.remove(model.own)
        if asking.other in successors:
            successors.remove(asking.other)
        asking.successors = tuple(successors)
    return asking


def draw_heard(random: Random, model: VotingModel, kind: str, epoch: int) -> Heard:
    """Draw the answer of another member to a request of an epoch."""
    chance = random.random()
    if chance < 0.75:
        heard = Heard(epoch=epoch, leader=NOBODY if kind == VOTE else model.own)
        heard.is_granted = kind == VOTE and random.random() < 0.6
        return heard
    return Heard(
        error=random.choice((NOT_LEADER, 74, 74, 0)),
        epoch=min(epoch + random.choice((-1, 0, 0, 1, 1, 2)), LAST_EPOCH),
        leader=random.choice((NOBODY, *model.voters, STRANGER)),
        is_granted=random.random() < 0.1,
    )
