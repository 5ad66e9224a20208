"""G15: A flush does not sync the directory after a new segment."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G15",
    title="A flush does not sync the directory after a new segment",
    source="ours; the class of ALICE (Pillai et al. 2014)",
    expected="FlushedIsNeverLost",
    edits=(
        Edit(
            module="kraftproof.node.storage.segments.segmented_log",
            old="        directory = self._directory if self._directory_changed else None",
            new="        directory = None",
        ),
    ),
)
