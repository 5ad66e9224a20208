"""P4: a follower that diverges truncates to its high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P4",
    title="A follower that diverges truncates to its high watermark",
    source="KIP-101",
    workload="log",
    expected="FollowersCutOnlyDivergence",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="""            replica.truncate(offset)
            self._on_changed(replica.log)""",
            new="""            replica.truncate(min(offset, replica.index.high_watermark))
            self._on_changed(replica.log)""",
        ),
    ),
)
