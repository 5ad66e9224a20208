"""A27: two votes in one epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A27",
    title="A voter votes twice in an epoch: the check of its first vote is dropped",
    source="a class",
    expected="OneVoteAnEpoch",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="return durable.voted_for in (NO_NODE, candidate)",
            new="return True",
        ),
    ),
)
