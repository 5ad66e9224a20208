"""F15: a short write to a file is not continued."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F15",
    title="A short write to a file is not continued",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.disk",
            old=(
                "                written = os.write(self._descriptor, remaining)\n"
                "                remaining = remaining[written:]\n"
            ),
            new=(
                "                os.write(self._descriptor, remaining)\n"
                "                remaining = remaining[len(remaining) :]\n"
            ),
        ),
    ),
)
