"""G4: A leader does not repeat a lost BeginQuorumEpoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G4",
    title="A leader does not repeat a lost BeginQuorumEpoch",
    source="ours; KIP-595 (BeginQuorumEpoch)",
    expected="BeginQuorumEpochIsRepeated",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.announcements",
            old="state.role.announcement.retry_later(voter, state.timeouts, now.monotonic)",
            new="state.role.announcement.done(voter)",
        ),
    ),
)
