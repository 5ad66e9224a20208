"""P78: a follower waits as long after each error as after the first."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P78",
    title="A follower waits as long after each error as after the first",
    source="ours; replica.fetch.backoff.ms, a survivor of the generated mutants",
    expected="FollowersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.fetcher",
            old="_SHORTEST_BACKOFF << min(follower.failures, _LONG_DOUBLINGS)",
            new="_SHORTEST_BACKOFF << min(0, _LONG_DOUBLINGS)",
        ),
    ),
)
