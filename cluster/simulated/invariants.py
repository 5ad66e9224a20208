"""The invariants of a simulated run, together. Each is a small class with its sentence.

Those of elections, the log, answers, images and leases are in the modules named so. They watch
during the run; what must hold at its end is checked in final_checks.py.
"""

from cluster.simulated.answer_invariants import AnswersArePresent
from cluster.simulated.election_invariants import (
    BoundedResignation,
    ElectedByAMajority,
    EpochsNeverFall,
    OneLeaderAnEpoch,
    OneVoteAnEpoch,
)
from cluster.simulated.lease_invariants import (
    CurrentEpochsOnly,
    FencedInTime,
    OneLivingIncarnation,
)
from cluster.simulated.ledger import Ledger
from cluster.simulated.log_invariants import (
    CommittedByAMajority,
    CommittedNeverChanges,
    HighWatermarkNeverFalls,
    LeadersCommitTheirOwn,
    LeadersHaveAllCommitted,
    LogsMatch,
    OwnWordIsDurable,
)
from cluster.simulated.metadata_invariants import (
    BrokersServeCaughtUp,
    FencedBrokersLeadNothing,
    ImagesAgree,
    LeadersAreInSync,
)
from cluster.simulated.progress_invariants import DeadlinesMoveOn
from cluster.simulated.registry import Registry
from cluster.simulated.snapshot_invariants import (
    LeadersLoadNoSnapshot,
    SnapshotAtLogStart,
    SnapshotsSayWhatTheLogSays,
)
from cluster.simulated.witness import Jury, Setting


def make_jury(setting: Setting, ledger: Ledger) -> Jury:
    """Return a jury with every invariant, in the order in which they are told."""
    registry = Registry(ledger)
    return Jury(
        (
            OneLeaderAnEpoch(),
            ElectedByAMajority(setting),
            EpochsNeverFall(),
            HighWatermarkNeverFalls(),
            CommittedByAMajority(setting),
            OwnWordIsDurable(setting),
            LogsMatch(),
            CommittedNeverChanges(ledger),
            LeadersHaveAllCommitted(ledger),
            LeadersCommitTheirOwn(),
            OneVoteAnEpoch(),
            BoundedResignation(setting),
            DeadlinesMoveOn(),
            ImagesAgree(),
            SnapshotsSayWhatTheLogSays(ledger),
            SnapshotAtLogStart(),
            LeadersLoadNoSnapshot(),
            BrokersServeCaughtUp(ledger),
            FencedBrokersLeadNothing(),
            LeadersAreInSync(ledger),
            AnswersArePresent(ledger),
            CurrentEpochsOnly(registry),
            OneLivingIncarnation(setting, registry),
            FencedInTime(setting, registry),
        )
    )
