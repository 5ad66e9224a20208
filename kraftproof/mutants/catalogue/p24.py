"""P24: a request with an older leader epoch is served."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P24",
    title="A request with an older leader epoch is served",
    source="KIP-320",
    workload="log",
    expected="LeadersServe",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.access",
            old="    if known_epoch < replica.partition.leader_epoch:",
            new="    if known_epoch < NO_EPOCH:",
        ),
    ),
)
