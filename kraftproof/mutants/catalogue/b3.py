"""B3: retention deletes records that no snapshot contains."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B3",
    title="Cleaning removes every closed segment, also those past the snapshot",
    source="KAFKA-14238 (b166ac43cb6), KAFKA-14240",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.segments.segmented_log",
            old="while len(self._segments) > 1 and self._segments[1].base_offset <= start_offset:",
            new="while len(self._segments) > 1 and start_offset > 0:",
        ),
    ),
)
