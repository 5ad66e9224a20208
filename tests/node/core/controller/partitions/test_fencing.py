"""The partitions that a broker leaves, one by one and all in one pass."""

from random import Random

import pytest

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.partitions import fencing
from kraftproof.node.core.controller.partitions.change import Target, change_partition
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from tests.node.core.controller.desk import Desk
from tests.node.core.controller.partitions.asking import cluster, fence, unfence
from tests.node.core.controller.partitions.requests import allow_unclean

BROKERS = range(1, 6)
PARTITIONS = 60
STEPS = 8

pytestmark = pytest.mark.requirement("631-53")


def one_by_one(desk: Desk, leaver: int) -> list[PartitionChangeRecord]:
    """Return the changes of a departure, each built from its partition alone."""
    image = desk.image

    def may_lead(node: NodeId) -> bool:
        return node != leaver and image.may_lead(node)

    changes = []
    for partition in image.in_isr(NodeId(leaver)):
        others = tuple(member for member in partition.isr if member != leaver)
        target = Target(isr=others, election=election_of(image, partition))
        changes.append(change_partition(image, partition, may_lead, target))
    return [change for change in changes if change is not None]


@pytest.mark.parametrize("is_unclean", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_departure_changes_each_partition_as_if_it_were_alone(
    seed: int, is_unclean: bool
) -> None:
    random = Random(seed)
    replicas = [tuple(random.sample(BROKERS, 3)) for _ in range(PARTITIONS)]
    desk = cluster(*replicas)
    if is_unclean:
        allow_unclean(desk)
    elected = 0
    for _ in range(STEPS):
        for broker_id in BROKERS:
            alone = one_by_one(desk, broker_id)
            assert list(fencing.leave(desk.image, NodeId(broker_id))) == alone
            elected += sum(change.leader >= 0 for change in alone)
        broker_id = random.choice(BROKERS)
        turn = unfence if desk.image.brokers[broker_id].fenced else fence
        turn(desk, broker_id)
    assert elected > PARTITIONS
