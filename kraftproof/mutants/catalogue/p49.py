"""P49: a look-up by time names the first record of the batch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P49",
    title="A look-up by time names the first record of the batch",
    source="ours",
    workload="log",
    expected="TimesFindRecords",
    edits=(
        Edit(
            module="kraftproof.node.storage.partitions.timestamps",
            old="        if time_ms >= timestamp_ms and effect.start_offset <= offset",
            new="        if effect.start_offset <= offset",
        ),
    ),
)
