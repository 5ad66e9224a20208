"""P6: a duplicate is acknowledged before its first attempt is committed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P6",
    title="A duplicate is acknowledged before its first attempt is committed",
    source="ours; KIP-98",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.produce",
            old="            result.required_offset = Offset(known.last_offset + 1)",
            new="            result.required_offset = Offset(0)",
        ),
    ),
)
