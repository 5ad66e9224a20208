"""P43: a leader removes a follower that lags for a quarter of the time."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P43",
    title="A leader removes a follower that lags for a quarter of the time",
    source="ours",
    kind="L",
    workload="log",
    expected="MembersAreRemovedForLag",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.progress",
            old="now - self.caught_up_at <= lag_ns",
            new="now - self.caught_up_at <= lag_ns // 4",
        ),
    ),
)
