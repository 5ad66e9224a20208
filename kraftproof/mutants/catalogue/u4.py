"""U4: old snapshots are never deleted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="U4",
    title="Old snapshots are never deleted",
    source="ours; KIP-630 (When to Delete Snapshots)",
    expected="OldFilesAreDeleted",
    edits=(
        Edit(
            module="kraftproof.node.storage.stored",
            old="""        self._log.clean(effect.start)
        self._snapshots.remove_below(effect.start)
""",
            new="""        self._log.clean(effect.start)
""",
        ),
    ),
)
