"""P63: only leaders write their high watermarks to checkpoints."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P63",
    title="Only leaders write their high watermarks to checkpoints",
    source="ours",
    workload="log",
    expected="FollowersReachTheirLeader",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.retention",
            old="            if replica.checkpointed !=",
            new="            if replica.leader and replica.checkpointed !=",
        ),
    ),
)
