"""A6: a leader forgets at its restart that it led."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A6",
    title="A leader starts again as unattached, and may vote in the epoch that it led",
    source="KAFKA-10661 (f49c6c203f6)",
    expected="RolesFitVotes",
    kafka="survived",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.state",
            old="""            return Resigned(epoch=durable.epoch, election_deadline=deadline)
        if durable.voted_for""",
            new="""            self.durable = QuorumState(epoch=durable.epoch)
            return Unattached(epoch=durable.epoch, election_deadline=deadline)
        if durable.voted_for""",
        ),
    ),
)
