"""P50: the newest time is that of the last batch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P50",
    title="The newest time is that of the last batch",
    source="ours",
    workload="log",
    expected="TimesFindRecords",
    edits=(
        Edit(
            module="kraftproof.node.storage.partitions.timestamps",
            old="                if is_within and header.max_timestamp_ms > newest_ms:",
            new="                if is_within:",
        ),
    ),
)
