"""A18b: logs are compared the wrong way round."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A18b",
    title="Of two logs the longer one is ahead, whatever the epochs of their last records",
    source="ours",
    expected="LeaderCompleteness",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)",
            new="return (end_offset, last_epoch) >= (log.end_offset, log.last_epoch)",
        ),
    ),
)
