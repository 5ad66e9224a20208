"""P14: a restart forgets the leader epochs of a log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P14",
    title="A restart forgets the leader epochs of a log",
    source="ours; KAFKA-15489 of the data plane, KIP-101",
    workload="log",
    expected="EpochEndsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.recovered",
            old="for epoch, start in recovered.epochs]",
            new="for epoch, start in recovered.epochs[-1:]]",
        ),
    ),
)
