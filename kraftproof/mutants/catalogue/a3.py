"""A3: the high watermark may stop right before the epoch's own first record."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A3",
    title="Off by one: a majority that reaches the epoch's start, not its LeaderChange, commits",
    source="KAFKA-12619 (d2c06c9c3c3)",
    expected="CommitOnlyOwnEpoch",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="if reached > role.start_offset and reached > state.high_watermark:",
            new="if reached >= role.start_offset and reached > state.high_watermark:",
        ),
    ),
)
