"""The invariants of a simulated run, each a small class with its statement.

See convergence/final_checks.py for the checks at the end of a run.
"""

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.announcements import (
    EndQuorumEpochOnShutdown,
    OlderEpochsAreRefused,
    PreferredSuccessorIsCaughtUp,
    QuorumEpochRequestsAccepted,
)
from kraftproof.cluster.simulated.invariants.answers import (
    AcknowledgedIsCommitted,
    LinearizableReads,
)
from kraftproof.cluster.simulated.invariants.broker_answers import ResponsesMatchImage
from kraftproof.cluster.simulated.invariants.brokers.api_versions import ApiVersionsAreTrue
from kraftproof.cluster.simulated.invariants.brokers.broker_states import BrokerStateIsAccurate
from kraftproof.cluster.simulated.invariants.brokers.catch_up import BrokersServeAfterCatchUp
from kraftproof.cluster.simulated.invariants.brokers.descriptions import DescriptionsAreTrue
from kraftproof.cluster.simulated.invariants.brokers.forwarding import (
    ForwardsBackOff,
    ForwardsKeepDeadlines,
)
from kraftproof.cluster.simulated.invariants.brokers.heartbeat_contents import HeartbeatsAreAccurate
from kraftproof.cluster.simulated.invariants.brokers.heartbeats import HeartbeatRequestsHonoured
from kraftproof.cluster.simulated.invariants.brokers.leases import (
    CurrentEpochsOnly,
    OneIncarnationPerSession,
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
    FencedBrokersLeadNothing,
    ImagesAgree,
    IsrMembersAreActive,
    LeadersAreInSync,
    PartitionEpochsRiseByOne,
)
from kraftproof.cluster.simulated.invariants.open_requests import EveryRequestEnds
from kraftproof.cluster.simulated.invariants.partitions.catalogue import invariants_of_partitions
from kraftproof.cluster.simulated.invariants.progress import NoBusyLoop
from kraftproof.cluster.simulated.invariants.pruning import CommittedLogPruner
from kraftproof.cluster.simulated.invariants.quorum.announcement_pace import (
    BeginQuorumEpochIsRepeated,
    SuccessorsElectInOrder,
)
from kraftproof.cluster.simulated.invariants.quorum.election_answers import ElectionAnswersAreRight
from kraftproof.cluster.simulated.invariants.quorum.election_times import ElectionTimeoutsHonoured
from kraftproof.cluster.simulated.invariants.quorum.evidence import QuorumEvidence
from kraftproof.cluster.simulated.invariants.quorum.fetch_answers import (
    FetchesWait,
    FetchReturnsNextBatches,
    NoFetchWaitsWithData,
)
from kraftproof.cluster.simulated.invariants.quorum.fetch_pace import FetchesBackOff
from kraftproof.cluster.simulated.invariants.quorum.high_watermarks import (
    FollowersAdoptHighWatermark,
    HighWatermarkReachesMajority,
)
from kraftproof.cluster.simulated.invariants.quorum.leaderships import NoNeedlessResignation
from kraftproof.cluster.simulated.invariants.quorum.peer_answers import (
    FetchersDoNotLead,
    ResponsesMatchRequests,
)
from kraftproof.cluster.simulated.invariants.quorum.quorum_answers import (
    DescribeQuorumIsAccurate,
    ReportedHighWatermarkNeverFalls,
)
from kraftproof.cluster.simulated.invariants.quorum.refusal_times import RefusalsTakeTheirTime
from kraftproof.cluster.simulated.invariants.quorum.request_versions import VersionsCarryRequests
from kraftproof.cluster.simulated.invariants.quorum.sent_requests import (
    EndorsedVotersAreLeftAlone,
    QuorumRequestsAreWhole,
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
from kraftproof.cluster.simulated.invariants.resources.snapshot_times import (
    SnapshotsAreDue,
    SnapshotsKeepTheInterval,
)
from kraftproof.cluster.simulated.invariants.security.acl_answers import AclDescriptionsAreTrue
from kraftproof.cluster.simulated.invariants.security.authorized_answers import AnswersFollowEntries
from kraftproof.cluster.simulated.invariants.security.credential_answers import (
    CredentialDescriptionsAreTrue,
)
from kraftproof.cluster.simulated.invariants.security.quota_answers import QuotaDescriptionsAreTrue
from kraftproof.cluster.simulated.invariants.security.refusal_reasons import RefusalsSayWhy
from kraftproof.cluster.simulated.invariants.security.token_answers import (
    TokenAnswersNameTheOwner,
)
from kraftproof.cluster.simulated.invariants.security.unreadable_envelopes import (
    UnreadableEnvelopesAreNamed,
)
from kraftproof.cluster.simulated.invariants.snapshots import (
    ImageReachesLogStart,
    LeadersLoadNoSnapshot,
    LogsReachTheirSnapshots,
    SnapshotAtLogStart,
    SnapshotFileMatchesImage,
    SnapshotMatchesLog,
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
    """Return a monitor with every invariant; only a specification judges results of requests."""
    registry, evidence = Registry(committed_log), QuorumEvidence(config)
    return InvariantMonitor(
        (
            CommittedLogPruner(committed_log),
            evidence,
            ElectionSafety(),
            ElectedByAMajority(config),
            EpochsNeverFall(config),
            HighWatermarkNeverFalls(),
            ReportedHighWatermarkNeverFalls(),
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
            NoNeedlessResignation(config),
            ElectionTimeoutsHonoured(config),
            StatusIsAccurate(config, evidence),
            *_of_messages(config),
            NoBusyLoop(),
            EveryRequestEnds(config),
            ImagesAgree(),
            ImagesFollowAtOnce(),
            LargeBatchesTakeSteps(),
            *_of_snapshots(committed_log),
            BrokersServeAfterCatchUp(committed_log),
            FencedBrokersLeadNothing(),
            LeadersAreInSync(committed_log),
            IsrMembersAreActive(committed_log),
            PartitionEpochsRiseByOne(),
            LinearizableReads(config, committed_log),
            AcknowledgedIsCommitted(committed_log),
            ResponsesMatchImage(config),
            ApiVersionsAreTrue(),
            DescriptionsAreTrue(config),
            DescribeQuorumIsAccurate(config, evidence),
            *_of_brokers(config, registry),
            *invariants_of_partitions(config),
            ForeignClusterIdRefused(config),
            *_of_security(),
            *_conformance(config, committed_log, make_specification),
            *_of_bounds(config),
        )
    )


def _of_brokers(config: ClusterConfig, registry: Registry) -> tuple[Invariant, ...]:
    """Return the invariants of leases, heartbeats and forwarding, in the order of their hooks."""
    return (
        CurrentEpochsOnly(registry),
        OneIncarnationPerSession(config, registry),
        FencedInTime(config, registry),
        HeartbeatRequestsHonoured(registry),
        BrokersKeepPace(config),
        HeartbeatsAreAccurate(),
        BrokerStateIsAccurate(),
        ForwardsKeepDeadlines(config),
        ForwardsBackOff(config),
        AnswersFollowEntries(config),
    )


def _of_security() -> tuple[Invariant, ...]:
    """Return the invariants of refusals, tokens and descriptions, in the order of their hooks."""
    return (
        RefusalsSayWhy(),
        UnreadableEnvelopesAreNamed(),
        TokenAnswersNameTheOwner(),
        AclDescriptionsAreTrue(),
        QuotaDescriptionsAreTrue(),
        CredentialDescriptionsAreTrue(),
    )


def _of_messages(config: ClusterConfig) -> tuple[Invariant, ...]:
    """Return the invariants of requests between replicas, in the order of their hooks."""
    return (
        FetchesAreFenced(),
        FetchersDoNotLead(),
        ResponsesMatchRequests(),
        HighWatermarkReachesMajority(config),
        FollowersAdoptHighWatermark(),
        FetchReturnsNextBatches(config),
        NoFetchWaitsWithData(config),
        FetchesWait(),
        OlderEpochsAreRefused(),
        PreferredSuccessorIsCaughtUp(),
        EndQuorumEpochOnShutdown(config),
        QuorumEpochRequestsAccepted(),
        BeginQuorumEpochIsRepeated(config),
        SuccessorsElectInOrder(config),
        FetchesBackOff(config),
        ElectionAnswersAreRight(config),
        RefusalsTakeTheirTime(config),
        QuorumRequestsAreWhole(config),
        VersionsCarryRequests(),
        EndorsedVotersAreLeftAlone(),
    )


def _of_snapshots(committed_log: CommittedLog) -> tuple[Invariant, ...]:
    """Return the invariants of snapshots, in the order of their hooks."""
    return (
        SnapshotMatchesLog(committed_log),
        SnapshotFileMatchesImage(),
        SnapshotAtLogStart(),
        LogsReachTheirSnapshots(),
        LeadersLoadNoSnapshot(),
        ImageReachesLogStart(),
    )


def _of_bounds(config: ClusterConfig) -> tuple[Invariant, ...]:
    """Return the invariants of resources: memory, files and copied bytes."""
    return (
        OpenRequestsAreBounded(),
        TablesAreBounded(),
        OldFilesAreDeleted(config),
        SnapshotsKeepUp(config),
        SnapshotsAreDue(config),
        SnapshotsKeepTheInterval(config),
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
