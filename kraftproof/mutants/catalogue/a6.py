"""A6: a leader forgets its leadership at a restart."""

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
            old="""        self.role = role_at_start(""",
            new="""        if self.is_voter and durable.leader == self.node_id:
            self.durable = durable = QuorumState(epoch=durable.epoch)
        self.role = role_at_start(""",
        ),
    ),
)
