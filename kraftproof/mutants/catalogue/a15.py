"""A15: a leader does not notice the diverging log end of a follower."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A15",
    title="The leader skips the check of the last fetched epoch: no diverging answer",
    source="KAFKA-6361 (#4882), KIP-320, crabka#365",
    expected="LogMatching",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.serving",
            old="if found.epoch != fetch.last_fetched_epoch or fetch.offset > found.end_offset:",
            new="if fetch.offset > state.log.end_offset:",
        ),
    ),
)
