"""P33: a retry with another count of records is a duplicate."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P33",
    title="A retry with another count of records is a duplicate",
    source="ours; KIP-98",
    workload="log",
    expected="ProducersAreJudgedByTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.producers",
            old="(known.first_sequence, known.last_sequence) == ends",
            new="known.first_sequence == ends[0]",
        ),
    ),
)
