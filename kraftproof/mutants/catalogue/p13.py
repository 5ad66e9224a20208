"""P13: deleteRecords does not wait for the followers."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P13",
    title="DeleteRecords does not wait for the followers",
    source="ours; KIP-107",
    workload="log",
    expected="LogStartsAreDue",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.delete_records",
            old="        deletion.is_open = deletion.low_watermark < deletion.offset",
            new="""        deletion.low_watermark = deletion.offset
        deletion.is_open = False""",
        ),
    ),
)
