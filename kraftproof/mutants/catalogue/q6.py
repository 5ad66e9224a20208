"""Q6: a debugging consumer of the metadata log gets records that are not committed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q6",
    title="A debugging consumer of the metadata log gets records that are not committed",
    source="ours; KIP-595, of the kind of survivors of the generated mutants",
    expected="ServingMatchesReference",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.serving",
            old="for batch in read if batch.next_offset <= state.high_watermark)",
            new="for batch in read)",
        ),
    ),
)
