"""P20: listOffsets shows the log end to consumers."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P20",
    title="ListOffsets shows the log end to consumers",
    source="ours; KIP-79",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.list_offsets",
            old="        end = index.end_offset if is_replica else index.high_watermark",
            new="        end = index.end_offset",
        ),
    ),
)
