"""C9: too many replicas are refused with the error of the partitions."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C9",
    title="Too many replicas are refused with the error of the partitions",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.assignment",
            old="""            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"replication factor""",
            new="""            ErrorCode.INVALID_PARTITIONS,
            f"replication factor""",
        ),
    ),
)
