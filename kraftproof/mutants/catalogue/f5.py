"""F5: the log is reset before the copied snapshot has its name."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F5",
    title="An installation resets the log before the copied snapshot has its name",
    source="ours; the class of ALICE (Pillai et al. 2014), KIP-630",
    expected="FlushedIsNeverLost",
    edits=(
        Edit(
            module="kraftproof.node.storage.stored",
            old="""        self._snapshots.install(effect.copy, effect.snapshot)
        self._log.reset(effect.snapshot)
""",
            new="""        self._log.reset(effect.snapshot)
        self._snapshots.install(effect.copy, effect.snapshot)
""",
        ),
    ),
)
