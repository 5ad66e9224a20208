"""P73: Metadata shows the replicas of a broker in controlled shutdown as offline."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P73",
    title="Metadata shows the replicas of a broker in controlled shutdown as offline",
    source="ours; KIP-631",
    expected="ListingsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.reach",
            old="            if not broker.fenced\n",
            new="            if broker.may_lead\n",
        ),
    ),
)
