"""A28: a vote is given away although the epoch has its leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A28",
    title="A follower that has a leader grants its vote in that epoch to another",
    source="a class",
    expected="OneVoteAnEpoch",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="""        if durable.leader != NO_NODE:
            return False
        return durable.voted_for""",
            new="        return durable.voted_for",
        ),
    ),
)
