"""P60: a restarted log remembers the flush of the old log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P60",
    title="A restarted log remembers the flush of the old log",
    source="ours",
    workload="log",
    expected="FollowersReachTheirLeader",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="""        self.producers.clear()
        self._flush_asked = offset
""",
            new="""        self.producers.clear()
""",
        ),
    ),
)
