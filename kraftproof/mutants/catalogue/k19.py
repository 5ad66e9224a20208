"""K19: a voter forgets its vote as soon as it knows the leader of the epoch."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K19",
    title="The vote of an epoch is forgotten when its leader becomes known",
    source="ours; a survivor of seed 8603",
    expected="OneVoteAnEpoch",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.state",
            old="""        voted_for = self.durable.voted_for if epoch == self.epoch else NO_NODE
        self.elections_lost""",
            new="""        voted_for = NO_NODE
        self.elections_lost""",
        ),
    ),
)
