"""Compare the quorum-state file of a node with Kafka's schema and the node's state (KIP-595)."""

import json
from collections.abc import Sequence

from kraftproof.node.core.base.quorum_state import QuorumState


def quorum_state_fault(
    content: bytes, state: QuorumState, cluster_id: str, voters: Sequence[int]
) -> str | None:
    """Describe a difference of a quorum-state file from version 0 of its schema; None if none.

    Further fields are allowed, since Kafka ignores unknown fields.
    """
    expected = {
        "clusterId": cluster_id,
        "leaderId": state.leader,
        "leaderEpoch": state.epoch,
        "votedId": state.voted_for,
        "appliedOffset": 0,
        "currentVoters": [{"voterId": voter} for voter in voters],
        "data_version": 0,
    }
    written = json.loads(content)
    for name, value in expected.items():
        if written.get(name) != value:
            return f"{name} is {written.get(name)!r}, not {value!r}"
    return None
