"""C8: too few partitions are refused with the error of the replication factor."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C8",
    title="Too few partitions are refused with the error of the replication factor",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.assignment",
            old="        raise TopicError(ErrorCode.INVALID_PARTITIONS,",
            new="        raise TopicError(ErrorCode.INVALID_REPLICATION_FACTOR,",
        ),
    ),
)
