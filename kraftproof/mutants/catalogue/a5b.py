"""A5b: no vote reaches the disk."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A5b",
    title="No vote is persisted at all, not even one's own as a candidate",
    source="a class; see A5",
    expected="OneVoteAnEpoch",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.state",
            old="self.outbox.emit(PersistQuorumState(durable))",
            new="self.outbox.emit(PersistQuorumState(replace(durable, voted_for=NO_NODE)))",
        ),
    ),
)
