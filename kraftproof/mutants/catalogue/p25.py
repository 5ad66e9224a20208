"""P25: a restart forgets the producers of a log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P25",
    title="A restart forgets the producers of a log",
    source="ours; KAFKA-5413 is of this class",
    workload="log",
    expected="IdempotentOnce",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.recovered",
            old="    for batch in recovered.producer_batches:",
            new="    for batch in recovered.producer_batches[:0]:",
        ),
    ),
)
