"""P34: a leader forgets an older batch than the last of a producer."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P34",
    title="A leader forgets an older batch than the last of a producer",
    source="ours; KIP-98",
    workload="log",
    expected="ProducersAreJudgedByTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.producers",
            old="COMPARED_BATCHES: Final = 5",
            new="COMPARED_BATCHES: Final = 1",
        ),
    ),
)
