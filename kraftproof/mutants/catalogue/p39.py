"""P39: a consumer above the high watermark is out of range."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P39",
    title="A consumer above the high watermark is out of range",
    source="ours; KIP-320",
    workload="log",
    expected="RefusalsHaveAReason",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch_ranges",
            old="    if not index.start_offset <= offset <= index.end_offset:",
            new="    if not index.start_offset <= offset <= end:",
        ),
    ),
)
