"""A4: records of older epochs commit before the leader's own."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A4",
    title="No current-epoch condition on commit: Raft's Figure 8 loses what was acknowledged",
    source="logcabin#44; the class of etcd and redisraft#22",
    expected="CommitOnlyOwnEpoch",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="if reached > role.start_offset and reached > state.high_watermark:",
            new="if reached > state.high_watermark:",
        ),
    ),
)
