"""The invariants of a simulated run, checked during the run.

Each invariant is a small class with its statement. See convergence/final_checks.py for the checks
at the end of a run.
"""

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.announcements import (
    LeadersAreHeeded,
    LeadersSayThatTheyStop,
    OlderEpochsAreRefused,
    SuccessorsHoldWhatCommitted,
)
from kraftproof.cluster.simulated.invariants.answers import (
    AcknowledgedIsCommitted,
    LinearizableReads,
)
from kraftproof.cluster.simulated.invariants.broker_answers import AnswersShowTheImage
from kraftproof.cluster.simulated.invariants.brokers.api_versions import ApiVersionsAreTrue
from kraftproof.cluster.simulated.invariants.brokers.broker_states import BrokerStatesAreKafkas
from kraftproof.cluster.simulated.invariants.brokers.forwarding import (
    ForwardsBackOff,
    ForwardsKeepDeadlines,
)
from kraftproof.cluster.simulated.invariants.brokers.heartbeat_contents import HeartbeatsAreTrue
from kraftproof.cluster.simulated.invariants.brokers.heartbeats import HeartbeatRequestsHonoured
from kraftproof.cluster.simulated.invariants.brokers.leases import (
    CurrentEpochsOnly,
    OneLivingIncarnation,
)
from kraftproof.cluster.simulated.invariants.brokers.pace import BrokersKeepPace
from kraftproof.cluster.simulated.invariants.brokers.sessions import FencedInTime
from kraftproof.cluster.simulated.invariants.conformance import (
    ControllerConforms,
    MakeSpecification,
)
from kraftproof.cluster.simulated.invariants.elections import (
    CheckQuorum,
    ElectedByAMajority,
    ElectionSafety,
    EpochsNeverFall,
    FetchesAreFenced,
)
from kraftproof.cluster.simulated.invariants.foreign_requests import ForeignClusterIdRefused
from kraftproof.cluster.simulated.invariants.image_pace import (
    ImagesFollowAtOnce,
    LargeBatchesTakeSteps,
)
from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    InvariantMonitor,
)
from kraftproof.cluster.simulated.invariants.log import (
    AcknowledgedIsFlushed,
    CommitNeedsMajority,
    CommitOnlyOwnEpoch,
    CommittedIsNeverCut,
    FlushedIsNeverLost,
    HighWatermarkNeverFalls,
    LeaderCompleteness,
    LogMatching,
    StateMachineSafety,
)
from kraftproof.cluster.simulated.invariants.metadata import (
    BrokersServeCaughtUp,
    FencedBrokersLeadNothing,
    ImagesAgree,
    LeadersAreInSync,
    PartitionEpochsRiseByOne,
    WhoEntersAnIsrMayLead,
)
from kraftproof.cluster.simulated.invariants.open_requests import EveryRequestEnds
from kraftproof.cluster.simulated.invariants.progress import NoBusyLoop
from kraftproof.cluster.simulated.invariants.pruning import CommittedLogPruner
from kraftproof.cluster.simulated.invariants.quorum.announcement_pace import (
    AnnouncementsAreRepeated,
    SuccessorsTakeTurns,
)
from kraftproof.cluster.simulated.invariants.quorum.election_times import ElectionsTakeTheirTime
from kraftproof.cluster.simulated.invariants.quorum.evidence import QuorumEvidence
from kraftproof.cluster.simulated.invariants.quorum.fetch_answers import (
    FetchesGetWhatFollows,
    FetchesWait,
    NewsIsAnsweredAtOnce,
)
from kraftproof.cluster.simulated.invariants.quorum.fetch_pace import FetchesBackOff
from kraftproof.cluster.simulated.invariants.quorum.high_watermarks import (
    FollowersTakeHighWatermarks,
    HighWatermarkIsEarned,
)
from kraftproof.cluster.simulated.invariants.quorum.leaderships import LeadersStay
from kraftproof.cluster.simulated.invariants.quorum.peer_answers import (
    AnswersNameWhatWasAsked,
    FetchersDoNotLead,
)
from kraftproof.cluster.simulated.invariants.quorum.quorum_answers import (
    DescribeQuorumIsAccurate,
    HighWatermarkToldNeverFalls,
)
from kraftproof.cluster.simulated.invariants.quorum.status import StatusIsAccurate
from kraftproof.cluster.simulated.invariants.resources.bounds import (
    OpenRequestsAreBounded,
    TablesAreBounded,
)
from kraftproof.cluster.simulated.invariants.resources.retention import (
    CatchUpIsBounded,
    OldFilesAreDeleted,
    SnapshotsKeepUp,
)
from kraftproof.cluster.simulated.invariants.snapshots import (
    ImagesMissNothing,
    LeadersLoadNoSnapshot,
    SnapshotAtLogStart,
    SnapshotFilesSayWhatImagesSay,
    SnapshotsSayWhatTheLogSays,
)
from kraftproof.cluster.simulated.invariants.votes import (
    OneVoteAnEpoch,
    QuorumStateIsKept,
    RolesFitVotes,
    VotesAreRefusedForAReason,
)


def make_monitor(
    config: ClusterConfig,
    committed_log: CommittedLog,
    make_specification: MakeSpecification | None = None,
) -> InvariantMonitor:
    """Return a monitor with every invariant; hooks are called in this order.

    Without a specification, no invariant compares requests with their results.
    """
    registry, evidence = Registry(committed_log), QuorumEvidence(config)
    return InvariantMonitor(
        (
            CommittedLogPruner(committed_log),
            evidence,
            ElectionSafety(),
            ElectedByAMajority(config),
            EpochsNeverFall(config),
            HighWatermarkNeverFalls(),
            HighWatermarkToldNeverFalls(),
            CommitNeedsMajority(config),
            AcknowledgedIsFlushed(config),
            LogMatching(),
            FlushedIsNeverLost(),
            CommittedIsNeverCut(committed_log),
            StateMachineSafety(committed_log),
            LeaderCompleteness(committed_log),
            CommitOnlyOwnEpoch(),
            OneVoteAnEpoch(config),
            QuorumStateIsKept(config),
            VotesAreRefusedForAReason(config),
            RolesFitVotes(config),
            CheckQuorum(config),
            LeadersStay(config),
            ElectionsTakeTheirTime(config),
            StatusIsAccurate(config, evidence),
            *_of_messages(config),
            NoBusyLoop(),
            EveryRequestEnds(config),
            ImagesAgree(),
            ImagesFollowAtOnce(),
            LargeBatchesTakeSteps(),
            *_of_snapshots(committed_log),
            BrokersServeCaughtUp(committed_log),
            FencedBrokersLeadNothing(),
            LeadersAreInSync(committed_log),
            WhoEntersAnIsrMayLead(committed_log),
            PartitionEpochsRiseByOne(),
            LinearizableReads(committed_log),
            AcknowledgedIsCommitted(committed_log),
            AnswersShowTheImage(config),
            ApiVersionsAreTrue(),
            DescribeQuorumIsAccurate(config, evidence),
            *_of_brokers(config, registry),
            ForeignClusterIdRefused(config),
            *_conformance(config, committed_log, make_specification),
            *_of_bounds(config),
        )
    )


def _of_brokers(config: ClusterConfig, registry: Registry) -> tuple[Invariant, ...]:
    """Return the invariants of leases, heartbeats and forwarding, in the order of their hooks."""
    return (
        CurrentEpochsOnly(registry),
        OneLivingIncarnation(config, registry),
        FencedInTime(config, registry),
        HeartbeatRequestsHonoured(registry),
        BrokersKeepPace(config),
        HeartbeatsAreTrue(),
        BrokerStatesAreKafkas(),
        ForwardsKeepDeadlines(config),
        ForwardsBackOff(config),
    )


def _of_messages(config: ClusterConfig) -> tuple[Invariant, ...]:
    """Return the invariants of requests between replicas, in the order of their hooks."""
    return (
        FetchesAreFenced(),
        FetchersDoNotLead(),
        AnswersNameWhatWasAsked(),
        HighWatermarkIsEarned(config),
        FollowersTakeHighWatermarks(),
        FetchesGetWhatFollows(config),
        NewsIsAnsweredAtOnce(config),
        FetchesWait(),
        OlderEpochsAreRefused(),
        SuccessorsHoldWhatCommitted(),
        LeadersSayThatTheyStop(config),
        LeadersAreHeeded(),
        AnnouncementsAreRepeated(config),
        SuccessorsTakeTurns(config),
        FetchesBackOff(config),
    )


def _of_snapshots(committed_log: CommittedLog) -> tuple[Invariant, ...]:
    """Return the invariants of snapshots, in the order of their hooks."""
    return (
        SnapshotsSayWhatTheLogSays(committed_log),
        SnapshotFilesSayWhatImagesSay(),
        SnapshotAtLogStart(),
        LeadersLoadNoSnapshot(),
        ImagesMissNothing(),
    )


def _of_bounds(config: ClusterConfig) -> tuple[Invariant, ...]:
    """Return the invariants of resources: memory, files and copied bytes."""
    return (
        OpenRequestsAreBounded(),
        TablesAreBounded(),
        OldFilesAreDeleted(),
        SnapshotsKeepUp(config),
        CatchUpIsBounded(),
    )


def _conformance(
    config: ClusterConfig,
    committed_log: CommittedLog,
    make_specification: MakeSpecification | None,
) -> tuple[ControllerConforms, ...]:
    if make_specification is None:
        return ()
    return (ControllerConforms(make_specification(config), committed_log),)
