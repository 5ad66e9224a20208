"""A2: a leader counts itself before its own flush."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A2",
    title="The leader counts itself towards a majority before it has flushed",
    source="KAFKA-10533; RaftFsync.tla, LeaderFsyncBeforeIncludeInQuorum",
    expected="CommitNeedsMajority",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="reached = majority_offset([state.flushed, *acknowledged])",
            new="reached = majority_offset([state.log.end_offset, *acknowledged])",
        ),
    ),
)
