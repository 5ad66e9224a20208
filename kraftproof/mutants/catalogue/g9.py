"""G9: A start leaves unfinished snapshots on the disk."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G9",
    title="A start leaves unfinished snapshots on the disk",
    source="ours; the class of leaked temporary files",
    expected="OldFilesAreDeleted",
    edits=(
        Edit(
            module="kraftproof.node.storage.snapshots",
            old="            if name.endswith(PARTIAL):",
            new="            if name.endswith(PARTIAL) and name.count(PARTIAL) > 1:",
        ),
    ),
)
