"""The invariants of a simulated run, together. Each is a small class with its sentence.

Those of elections, votes, announcements, the log, answers, images, leases and wishes are in the
modules named so. They watch during the run; what must hold at its end is in final_checks.py.
"""

from kraftproof.cluster.simulated.announcement_invariants import (
    LeadersSayThatTheyStop,
    OlderEpochsAreRefused,
    SuccessorsHoldWhatCommitted,
)
from kraftproof.cluster.simulated.answer_invariants import AnswersArePresent, AnswersAreTrue
from kraftproof.cluster.simulated.broker_answer_invariants import AnswersShowTheImage
from kraftproof.cluster.simulated.election_invariants import (
    BoundedResignation,
    ElectedByAMajority,
    EpochsNeverFall,
    FetchesAreFenced,
    OneLeaderAnEpoch,
)
from kraftproof.cluster.simulated.forgetting import Forgetting
from kraftproof.cluster.simulated.lease_invariants import CurrentEpochsOnly, OneLivingIncarnation
from kraftproof.cluster.simulated.ledger import Ledger
from kraftproof.cluster.simulated.log_invariants import (
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
from kraftproof.cluster.simulated.metadata_invariants import (
    BrokersServeCaughtUp,
    FencedBrokersLeadNothing,
    ImagesAgree,
    LeadersAreInSync,
    PartitionEpochsRiseByOne,
    WhoEntersAnIsrMayLead,
)
from kraftproof.cluster.simulated.progress_invariants import DeadlinesMoveOn
from kraftproof.cluster.simulated.quorum_answer_invariants import (
    HighWatermarkToldNeverFalls,
    QuorumIsToldTruly,
)
from kraftproof.cluster.simulated.registry import Registry
from kraftproof.cluster.simulated.session_invariants import FencedInTime
from kraftproof.cluster.simulated.snapshot_invariants import (
    ImagesMissNothing,
    LeadersLoadNoSnapshot,
    SnapshotAtLogStart,
    SnapshotFilesSayWhatImagesSay,
    SnapshotsSayWhatTheLogSays,
)
from kraftproof.cluster.simulated.stranger_invariants import StrangersAreRefused
from kraftproof.cluster.simulated.vote_invariants import (
    OneVoteAnEpoch,
    QuorumStateIsKept,
    RolesFitVotes,
    VotesAreRefusedForAReason,
)
from kraftproof.cluster.simulated.wish_invariants import WishesAreGranted
from kraftproof.cluster.simulated.witness import Jury, Setting


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
