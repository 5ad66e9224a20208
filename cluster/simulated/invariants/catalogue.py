"""The invariants of a simulated run, together. Each is a small class with its sentence.

Those of elections, votes, announcements, the log, answers, images, leases and wishes are in the
modules named so. They watch during the run; what must hold at its end is in final_checks.py.
"""

from kraftproof.cluster.simulated.committed.committed_log import Ledger
from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.announcements import (
    LeadersSayThatTheyStop,
    OlderEpochsAreRefused,
    SuccessorsHoldWhatCommitted,
)
from kraftproof.cluster.simulated.invariants.answers import AnswersArePresent, AnswersAreTrue
from kraftproof.cluster.simulated.invariants.broker_answers import AnswersShowTheImage
from kraftproof.cluster.simulated.invariants.elections import (
    BoundedResignation,
    ElectedByAMajority,
    EpochsNeverFall,
    FetchesAreFenced,
    OneLeaderAnEpoch,
)
from kraftproof.cluster.simulated.invariants.foreign_requests import StrangersAreRefused
from kraftproof.cluster.simulated.invariants.heartbeats import WishesAreGranted
from kraftproof.cluster.simulated.invariants.invariant import Jury, Setting
from kraftproof.cluster.simulated.invariants.leases import CurrentEpochsOnly, OneLivingIncarnation
from kraftproof.cluster.simulated.invariants.log import (
    CommittedByAMajority,
    CommittedIsNeverCut,
    CommittedNeverChanges,
    DurableStaysDurable,
    HighWatermarkNeverFalls,
    LeadersCommitTheirOwn,
    LeadersHaveAllCommitted,
    LogsMatch,
    OwnWordIsDurable,
)
from kraftproof.cluster.simulated.invariants.metadata import (
    BrokersServeCaughtUp,
    FencedBrokersLeadNothing,
    ImagesAgree,
    LeadersAreInSync,
    PartitionEpochsRiseByOne,
    WhoEntersAnIsrMayLead,
)
from kraftproof.cluster.simulated.invariants.progress import DeadlinesMoveOn
from kraftproof.cluster.simulated.invariants.pruning import Forgetting
from kraftproof.cluster.simulated.invariants.quorum_answers import (
    HighWatermarkToldNeverFalls,
    QuorumIsToldTruly,
)
from kraftproof.cluster.simulated.invariants.sessions import FencedInTime
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


def make_jury(setting: Setting, ledger: Ledger) -> Jury:
    """Return a jury with every invariant, in the order in which they are told."""
    registry = Registry(ledger)
    return Jury(
        (
            Forgetting(ledger),
            OneLeaderAnEpoch(),
            ElectedByAMajority(setting),
            EpochsNeverFall(setting),
            HighWatermarkNeverFalls(),
            HighWatermarkToldNeverFalls(),
            CommittedByAMajority(setting),
            OwnWordIsDurable(setting),
            LogsMatch(),
            DurableStaysDurable(),
            CommittedIsNeverCut(ledger),
            CommittedNeverChanges(ledger),
            LeadersHaveAllCommitted(ledger),
            LeadersCommitTheirOwn(),
            OneVoteAnEpoch(setting),
            QuorumStateIsKept(setting),
            VotesAreRefusedForAReason(setting),
            RolesFitVotes(setting),
            BoundedResignation(setting),
            FetchesAreFenced(),
            OlderEpochsAreRefused(),
            SuccessorsHoldWhatCommitted(),
            LeadersSayThatTheyStop(setting),
            DeadlinesMoveOn(),
            ImagesAgree(),
            SnapshotsSayWhatTheLogSays(ledger),
            SnapshotFilesSayWhatImagesSay(),
            SnapshotAtLogStart(),
            LeadersLoadNoSnapshot(),
            ImagesMissNothing(),
            BrokersServeCaughtUp(ledger),
            FencedBrokersLeadNothing(),
            LeadersAreInSync(ledger),
            WhoEntersAnIsrMayLead(ledger),
            PartitionEpochsRiseByOne(),
            AnswersArePresent(ledger),
            AnswersAreTrue(ledger),
            AnswersShowTheImage(setting),
            QuorumIsToldTruly(setting),
            CurrentEpochsOnly(registry),
            OneLivingIncarnation(setting, registry),
            FencedInTime(setting, registry),
            WishesAreGranted(registry),
            StrangersAreRefused(setting),
        )
    )
