"""Q4: a full sparse index drops the places of its entries, but not their times."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q4",
    title="A full sparse index drops the places of its entries, but not their times",
    source="ours, a survivor of the generated mutants",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.segments.sparse_index",
            old="            for entries in (self._offsets, self._positions, self._before_ms):\n"
            "                del entries[1::2]",
            new="            for entries in (self._offsets, self._positions):\n"
            "                del entries[1::2]",
        ),
    ),
)
