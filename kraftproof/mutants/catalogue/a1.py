"""A1: a follower acknowledges records before the flush."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A1",
    title="A follower does not flush before its next Fetch, by which the leader counts it",
    source="KAFKA-10533 (a72f0c1eac6)",
    expected="AcknowledgedIsFlushed",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.fetching",
            old="return state.flushed == state.log.end_offset",
            new="return True",
        ),
    ),
)
