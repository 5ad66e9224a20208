"""The invariants of partitions, in the order of their hooks."""

from kraftproof.cluster.simulated.invariants.brokers.producer_ids import ProducerIdsAreGiven
from kraftproof.cluster.simulated.invariants.brokers.under_way import OneRequestUnderWay
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, Invariant
from kraftproof.cluster.simulated.invariants.partitions.acknowledged import (
    AcknowledgedIsOnTheIsr,
    CommittedBatchesAgree,
    IdempotentOnce,
    PartitionLogsMatch,
)
from kraftproof.cluster.simulated.invariants.partitions.answer_fields import AnswersNameTheLog
from kraftproof.cluster.simulated.invariants.partitions.copies import (
    FollowersCopyTheirLeader,
    LogStartsAreDue,
)
from kraftproof.cluster.simulated.invariants.partitions.deletions import DeletionsEnd
from kraftproof.cluster.simulated.invariants.partitions.fetched import FollowerFetches
from kraftproof.cluster.simulated.invariants.partitions.followers import (
    FollowersCutOnlyDivergence,
    FollowersTellTheirLogs,
    StaleFollowersAreRefused,
)
from kraftproof.cluster.simulated.invariants.partitions.leaders import (
    EpochEndsAreTrue,
    LeadersServe,
    MinIsrIsHonoured,
)
from kraftproof.cluster.simulated.invariants.partitions.offline import OnlyFailedAreOffline
from kraftproof.cluster.simulated.invariants.partitions.producers import (
    ProducersAreJudgedByTheLog,
    ProducersWriteInOrder,
)
from kraftproof.cluster.simulated.invariants.partitions.proposals import (
    JoinersHaveFetched,
    MembersAreRemovedForLag,
    OneProposalAtATime,
)
from kraftproof.cluster.simulated.invariants.partitions.refusals import RefusalsHaveAReason
from kraftproof.cluster.simulated.invariants.partitions.replicas import NewestImage
from kraftproof.cluster.simulated.invariants.partitions.stored_logs import (
    FlushedPartitionsAreKept,
    PartitionEpochsNeverFall,
)
from kraftproof.cluster.simulated.invariants.partitions.times import TimesFindRecords
from kraftproof.cluster.simulated.invariants.partitions.visible import (
    ReadersGetCommittedBytes,
    VisibleIsOnTheIsr,
)
from kraftproof.cluster.simulated.invariants.partitions.waiting import (
    ProducersLearnOfCommits,
    WaitingFetchesAreAnswered,
)
from kraftproof.cluster.simulated.invariants.partitions.watermarks import (
    HighWatermarkFollowsFetches,
    HighWatermarkIsFetched,
)
from kraftproof.cluster.simulated.invariants.resources.log_directories import LogDirsMatchFiles


def invariants_of_partitions(config: ClusterConfig) -> tuple[Invariant, ...]:
    """Return the invariants of the partitions' logs; none without a data plane."""
    if not config.has_data:
        return ()
    newest = NewestImage(config.static_configs)
    fetches = FollowerFetches(newest)
    return (
        FlushedPartitionsAreKept(),
        PartitionEpochsNeverFall(),
        AcknowledgedIsOnTheIsr(newest),
        VisibleIsOnTheIsr(newest),
        ReadersGetCommittedBytes(newest),
        CommittedBatchesAgree(newest),
        IdempotentOnce(),
        PartitionLogsMatch(),
        FollowersCopyTheirLeader(newest),
        LeadersServe(newest),
        EpochEndsAreTrue(newest),
        MinIsrIsHonoured(newest),
        ProducersAreJudgedByTheLog(newest),
        ProducersWriteInOrder(newest),
        LogStartsAreDue(newest),
        DeletionsEnd(newest),
        OnlyFailedAreOffline(newest),
        FollowersTellTheirLogs(newest),
        FollowersCutOnlyDivergence(newest),
        StaleFollowersAreRefused(),
        fetches,
        HighWatermarkIsFetched(fetches, newest),
        HighWatermarkFollowsFetches(fetches, newest),
        OneProposalAtATime(),
        OneRequestUnderWay(),
        ProducerIdsAreGiven(),
        JoinersHaveFetched(fetches),
        MembersAreRemovedForLag(fetches, config.replica_lag_ns),
        WaitingFetchesAreAnswered(newest),
        ProducersLearnOfCommits(fetches, newest),
        AnswersNameTheLog(newest),
        RefusalsHaveAReason(),
        TimesFindRecords(newest),
        LogDirsMatchFiles(),
    )
