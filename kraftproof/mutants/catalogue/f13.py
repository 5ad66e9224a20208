"""F13: a cut segment remembers where its readers go on."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F13",
    title="A cut segment remembers where its readers go on",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.segments.segment",
            old=("        self._index.truncate(size)\n        self._read_ends.clear()\n"),
            new="        self._index.truncate(size)\n",
        ),
    ),
)
