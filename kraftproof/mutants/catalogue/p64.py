"""P64: a refused assignment to a directory counts as done."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P64",
    title="A refused assignment to a directory counts as done",
    source="ours; KIP-858",
    kind="L",
    workload="log",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.directory_assignments",
            old="""        if partition.error_code == ErrorCode.NONE
""",
            new="""        if partition.error_code != ErrorCode.NOT_CONTROLLER
""",
        ),
    ),
)
