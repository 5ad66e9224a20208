"""G12: A debugging consumer gets records before they are committed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G12",
    title="A debugging consumer gets records before they are committed",
    source="ours; KIP-595 (Fetch)",
    expected="FetchReturnsNextBatches",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.serving",
            old=" if batch.next_offset <= state.high_watermark)",
            new=")",
        ),
    ),
)
