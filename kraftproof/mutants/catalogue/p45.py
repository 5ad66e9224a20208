"""P45: a follower does not take the leader's high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P45",
    title="A follower does not take the leader's high watermark",
    source="ours",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old=(
                "        index.high_watermark = max(index.high_watermark,"
                " min(high_watermark, index.end_offset))\n"
            ),
            new="        assert high_watermark <= index.end_offset or high_watermark\n",
        ),
    ),
)
