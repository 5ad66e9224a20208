"""K1: the replicas that a change adds are lost."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K1",
    title="The replicas that a change adds are lost",
    source="ours; KIP-455 (PartitionChangeRecord)",
    expected="ImagesSayWhatTheLogSays",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changed_partition",
            old=("        adding=_changed(was.adding, record.adding_replicas),\n"),
            new=("        adding=was.adding,\n"),
        ),
    ),
)
