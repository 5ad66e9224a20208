"""A8: a leader without followers does not resign."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A8",
    title="A leader does not resign without a majority of Fetches for the fetch time-out",
    source="KAFKA-15489 (37416e1aeba)",
    expected="CheckQuorum",
    kind="L",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.progress",
            old="""    if now.monotonic >= role.replicas.majority_until:
        state.resign(now)""",
            new="""    if now.monotonic >= role.replicas.majority_until:
        role.replicas.majority_until = Monotonic(now.monotonic + state.timeouts.fetch_ns)""",
        ),
    ),
)
