"""P68: the lag of a member is judged by the high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P68",
    title="The lag of a member is judged by the high watermark",
    source="ours; KIP-497 (497-02)",
    kind="L",
    workload="log",
    expected="ProposalsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="""        end = self._index.end_offset
        lagging""",
            new="""        end = self._index.high_watermark
        lagging""",
        ),
    ),
)
