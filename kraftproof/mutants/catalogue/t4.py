"""T4: a preferred election leaves out partitions without a leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T4",
    title="A preferred election leaves out partitions without a leader",
    source="ours; KIP-460",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.elections",
            old="""            is_needed = partition.replicas[:1] != (leader,)""",
            new="""            is_needed = leader not in (NO_NODE, *partition.replicas[:1])""",
        ),
    ),
)
