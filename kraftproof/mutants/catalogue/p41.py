"""P41: the high watermark does not follow the fsync of the leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P41",
    title="The high watermark does not follow the fsync of the leader",
    source="ours; the class of lost wake-ups",
    kind="L",
    workload="log",
    expected="HighWatermarkFollowsFetches",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.data_plane",
            old="            replica.advance_high_watermark(now)\n",
            new="            assert replica.log == log\n",
        ),
    ),
)
