"""G5: the new leader of a partition is the in-sync replica with the lowest id."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G5",
    title="The new leader of a partition is the in-sync replica with the lowest id",
    source="ours; Kafka's PartitionChangeBuilder",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.change",
            old="    order = (partition.leader, *draft.replicas)\n",
            new="    order = (partition.leader, *sorted(draft.isr))\n",
        ),
    ),
)
