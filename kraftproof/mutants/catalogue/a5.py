"""A5: a vote is kept in memory only."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A5",
    title="A vote for another candidate is not persisted, the epoch is",
    source="datatechnology/cornerstone#65; KAFKA-16526",
    expected="OneVoteAnEpoch",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.state",
            old="""        self._transition(
            RoleEvent.VOTE_GIVEN,
            QuorumState(epoch=epoch, voted_for=candidate),""",
            new="""        self.durable = QuorumState(epoch=epoch, voted_for=candidate)
        self.outbox.emit(PersistQuorumState(QuorumState(epoch=epoch)))
        self._transition(
            RoleEvent.VOTE_GIVEN,
            QuorumState(epoch=epoch, voted_for=candidate),""",
        ),
    ),
)
