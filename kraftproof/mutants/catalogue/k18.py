"""K18: a partition that only loses replicas is not in the index of those that move."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K18",
    title="A partition that only loses replicas is not in the index of those that move",
    source="ours; KIP-455 (ListPartitionReassignments)",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changes",
            old="    return () if partition is None or not partition.is_moving else (NO_NODE,)",
            new="    return () if partition is None or not partition.adding else (NO_NODE,)",
        ),
    ),
)
