"""Define the control records, which belong to the quorum (KIP-595 "Log Structure", KIP-630).

The types are 2 LeaderChange, 3 SnapshotHeader and 4 SnapshotFooter. Kafka's dynamic quorums
(KIP-853) also write 5 KRaftVersion and 6 Voters, which the node only reads.
"""

from kraftproof.node.wire.records.generated.kraft_version import KRaftVersion
from kraftproof.node.wire.records.generated.leader_change import LeaderChange
from kraftproof.node.wire.records.generated.leader_change import Voter as LeaderChangeVoter
from kraftproof.node.wire.records.generated.snapshot_footer import SnapshotFooter
from kraftproof.node.wire.records.generated.snapshot_header import SnapshotHeader
from kraftproof.node.wire.records.generated.voters import Voters

ControlRecord = LeaderChange | SnapshotHeader | SnapshotFooter | KRaftVersion | Voters

__all__ = (
    "ControlRecord",
    "KRaftVersion",
    "LeaderChange",
    "LeaderChangeVoter",
    "SnapshotFooter",
    "SnapshotHeader",
    "Voters",
)
