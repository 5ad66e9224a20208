"""G2: A failed voter is asked again at once."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G2",
    title="A failed voter is asked again at once",
    source="ours; KIP-595 (the back-off of retries)",
    expected="FetchesBackOff",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.fetching",
            old="PeerBackoff(Monotonic(now.monotonic + wait_ns), times)",
            new="PeerBackoff(now.monotonic, times)",
        ),
    ),
)
