"""F8: a snapshot appears under its name before its data is durable."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F8",
    title="A node's own snapshot gets its name without a sync of its data",
    source="ours; the class of ext4 delayed allocation, KIP-630",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.snapshots",
            old="""                size += len(data)
            yield
            handle.start_fsync()()
""",
            new="""                size += len(data)
            yield
""",
        ),
    ),
)
