"""A14: a lost answer to a Vote loses the vote."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A14",
    title="A candidate that asks again in the same epoch is refused the vote that it was given",
    source="nebula#2419, case 1",
    expected="VotesAreRefusedForAReason",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="return durable.voted_for in (NO_NODE, candidate)",
            new="return durable.voted_for == NO_NODE",
        ),
    ),
)
