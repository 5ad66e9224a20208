"""F7: the offsets beside the log are lowered after the truncation."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F7",
    title="The recovery point is lowered after the log is cut, not before",
    source="ours; the class of ALICE (Pillai et al. 2014)",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.stored",
            old="""        self._checkpoints.lower(effect.end_offset)
        self._log.truncate(effect.end_offset)
""",
            new="""        self._log.truncate(effect.end_offset)
        self._checkpoints.lower(effect.end_offset)
""",
        ),
    ),
)
