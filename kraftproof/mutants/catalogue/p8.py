"""P8: a consumer reads above the high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P8",
    title="A consumer reads above the high watermark",
    source="ours; KAFKA-14704 is of this class",
    workload="log",
    expected="ReadersGetCommittedBytes",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.fetch_ranges",
            old="    end = index.end_offset if is_follower else index.high_watermark",
            new="    end = index.end_offset",
        ),
    ),
)
