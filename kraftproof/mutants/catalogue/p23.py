"""P23: a follower does not truncate a diverged log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P23",
    title="A follower does not truncate a diverged log",
    source="ours; KIP-101",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="""            replica.truncate(offset)
            self._on_changed(replica.log)""",
            new="""            del offset
            self._back_off(follower, now)""",
        ),
    ),
)
