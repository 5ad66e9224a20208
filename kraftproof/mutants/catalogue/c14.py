"""C14: a change of a partition does not raise the partition epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C14",
    title="A change of a partition does not raise the partition epoch",
    source="ours; KIP-497",
    expected="PartitionEpochsRiseByOne",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changed_partition",
            old="        partition_epoch=was.partition_epoch + 1,",
            new="        partition_epoch=was.partition_epoch,",
        ),
    ),
)
