"""E14-epoch: a new leader does not raise the leader epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E14-epoch",
    title="A new leader does not raise the leader epoch",
    source="KAFKA-18106, KAFKA-15021, KAFKA-15109",
    expected="PartitionEpochsRiseByOne",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changed_partition",
            old="Epoch(was.leader_epoch + 1) if elects else was.leader_epoch",
            new="Epoch(was.leader_epoch + (record.isr is None)) if elects else was.leader_epoch",
        ),
    ),
)
