"""A quorum-state file is compared with Kafka's schema and the node's state."""

import json

import pytest

from kraftproof.cluster.simulated.convergence.quorum_state_files import quorum_state_fault
from kraftproof.node.core.base.quorum_state import QuorumState

WHOLE = {
    "clusterId": "c",
    "leaderId": 2,
    "leaderEpoch": 7,
    "votedId": -1,
    "appliedOffset": 0,
    "currentVoters": [{"voterId": 1}, {"voterId": 2}],
    "data_version": 0,
    "nodeId": 1,
}


def fault(content):
    state = QuorumState(epoch=7, leader=2)
    return quorum_state_fault(json.dumps(content).encode(), state, "c", (1, 2))


def test_further_fields_are_allowed():
    assert fault(WHOLE) is None


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "nodeId"])
def test_each_field_of_the_schema_is_there_and_right(name):
    assert fault({key: value for key, value in WHOLE.items() if key != name}) is not None
    assert fault({**WHOLE, name: 99}) is not None
