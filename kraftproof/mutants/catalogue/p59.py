"""P59: a follower fetches no more after it has truncated to a leader's shorter log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P59",
    title="A follower fetches no more after it has truncated to a leader's shorter log",
    source="ours; KIP-101",
    kind="L",
    workload="log",
    expected="FollowersReachTheirLeader",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.offset_search",
            old="""            follower.is_finding_offsets = False
        else:
            self._ask(""",
            new="""        else:
            self._ask(""",
        ),
    ),
)
