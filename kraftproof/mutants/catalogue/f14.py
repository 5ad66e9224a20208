"""F14: a truncation keeps the epoch that begins at the new end."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F14",
    title="A truncation keeps the epoch that begins at the new end",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.epochs",
            old="kept = bisect_left(self._entries, end_offset, key=lambda entry: entry[1])",
            new="kept = bisect_right(self._entries, end_offset, key=lambda entry: entry[1])",
        ),
    ),
)
