"""P44: retention removes nothing."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P44",
    title="Retention removes nothing",
    source="ours; retention.bytes",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.retention",
            old="                if offset > replica.index.start_offset:",
            new="                if offset > replica.index.end_offset:",
        ),
    ),
)
