"""The invariants of a simulated run, together. Each is a small class with its sentence.

The quorum's are in raft_invariants.py, those of images and leases in metadata_invariants.py, those
of answers in answer_invariants.py. They watch during the run; what must hold at its end is checked
in final_checks.py.
"""

from cluster.simulated.answer_invariants import AnswersArePresent
from cluster.simulated.ledger import Ledger
from cluster.simulated.metadata_invariants import (
    CurrentEpochsOnly,
    FencedBrokersLeadNothing,
    FencedInTime,
    ImagesAgree,
    LeadersAreInSync,
    OneLivingIncarnation,
)
from cluster.simulated.raft_invariants import (
    BoundedResignation,
    CommittedByAMajority,
    CommittedNeverChanges,
    EpochsNeverFall,
    HighWatermarkNeverFalls,
    LeadersCommitTheirOwn,
    LeadersHaveAllCommitted,
    LogsMatch,
    OneLeaderAnEpoch,
    OneVoteAnEpoch,
    OwnWordIsDurable,
)
from cluster.simulated.registry import Registry
from cluster.simulated.witness import Jury, Setting


def make_jury(setting: Setting) -> Jury:
    """Return a jury with every invariant, in the order in which they are told."""
    ledger = Ledger()
    registry = Registry(ledger)
    return Jury(
        (
            OneLeaderAnEpoch(),
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
            ImagesAgree(),
            FencedBrokersLeadNothing(),
            LeadersAreInSync(ledger),
            AnswersArePresent(ledger),
            CurrentEpochsOnly(registry),
            OneLivingIncarnation(setting, registry),
            FencedInTime(setting, registry),
        )
    )
