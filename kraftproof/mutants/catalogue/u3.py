"""U3: the log below a snapshot is never deleted from the disk."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="U3",
    title="The log below a snapshot is never deleted from the disk",
    source="ours; KIP-630 (When to Increase the LogStartOffset)",
    expected="OldFilesAreDeleted",
    edits=(
        Edit(
            module="kraftproof.node.storage.log",
            old="""        self._remove_below(start.end_offset)
        self.epochs.cleaned""",
            new="        self.epochs.cleaned",
        ),
    ),
)
