"""T15: a new log takes over the checkpoints of a deleted log of its name."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T15",
    title="A new log takes over the checkpoints of a deleted log of its name",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.partitions.log_directory",
            old="""        self._forget(named)
        assert""",
            new="        assert",
        ),
    ),
)
