"""ResponsesMatchImage knows which leaders and replicas the listener of a client reaches."""

import pytest
from msgspec.structs import replace as changed

from kraftproof.node.wire.errors import ErrorCode
from tests.cluster.simulated.invariants.invariant_harness import image_of, partition, topic
from tests.cluster.simulated.invariants.test_broker_answer_invariants import (
    BY_NAME,
    LED,
    LISTED,
    SHOWN,
    Broker,
    metadata,
    registered,
)


@pytest.mark.parametrize(
    ("version", "error"),
    [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)],
)
def test_a_leader_without_the_listener_of_the_client_is_not_shown(version, error):
    image = image_of(
        registered(4),
        registered(6, listeners=("OTHER",)),
        topic(),
        partition(isr=(6,), leader=6, replicas=(6, 4), index=0),
    )
    hidden = changed(LED, error_code=error, leader_id=-1, replica_nodes=(6, 4), isr_nodes=(6,))
    for leader, offline, reported in ((-1, (6,), 0), (6, (6,), 1), (-1, (), 1)):
        shown = changed(hidden, leader_id=leader, offline_replicas=offline)
        answer = metadata((changed(SHOWN, partitions=(shown,)),), brokers=LISTED[:1])
        assert len(Broker(image).says(BY_NAME, answer, version=version)) == reported
