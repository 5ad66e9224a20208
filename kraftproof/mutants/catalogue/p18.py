"""P18: a joiner may lack records below the high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P18",
    title="A joiner may lack records below the high watermark",
    source="ours; KIP-497 (497-09)",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="""            end >= self._index.high_watermark
            and end >= self.epoch_start""",
            new="""            end >= self._index.start_offset
            and end >= 0""",
        ),
    ),
)
