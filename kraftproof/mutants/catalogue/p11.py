"""P11: retention by size removes one span too many."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P11",
    title="Retention by size removes one span too many",
    source="ours; KAFKA-15388 is of this class",
    workload="log",
    expected="LogStartsAreDue",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.retention",
            old="index.size - after_position",
            new="index.size - span.position",
        ),
    ),
)
