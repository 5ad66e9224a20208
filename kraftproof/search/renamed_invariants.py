"""Former names of invariants, as older schedule files have them on their `violates` line."""

from types import MappingProxyType
from typing import Final

RENAMED_INVARIANTS: Final = MappingProxyType(
    {
        "OneLeaderAnEpoch": "ElectionSafety",
        "LogsMatch": "LogMatching",
        "LeadersHaveAllCommitted": "LeaderCompleteness",
        "CommittedNeverChanges": "StateMachineSafety",
        "OwnWordIsDurable": "AcknowledgedIsFlushed",
        "DurableStaysDurable": "FlushedIsNeverLost",
        "CommittedByAMajority": "CommitNeedsMajority",
        "LeadersCommitTheirOwn": "CommitOnlyOwnEpoch",
        "AnswersArePresent": "LinearizableReads",
        "AnswersAreTrue": "AcknowledgedIsCommitted",
        "QuorumIsToldTruly": "DescribeQuorumIsAccurate",
        "BoundedResignation": "CheckQuorum",
        "DeadlinesMoveOn": "NoBusyLoop",
        "NoNodeGivesUp": "NoUnexpectedExit",
        "StrangersAreRefused": "ForeignClusterIdRefused",
        "WishesAreGranted": "HeartbeatRequestsHonoured",
        "NoNodeCrashes": "NoUnhandledException",
    }
)
"""The present name of each renamed invariant."""
