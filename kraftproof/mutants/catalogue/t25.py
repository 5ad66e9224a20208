"""T25: DeleteRecords waits for a replica whose directory has failed."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T25",
    title="DeleteRecords waits for a follower whose directory has failed",
    source="ours; KIP-107, KIP-858, a state that no comparison drew",
    expected="LeadersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="not broker.fenced and has_disk(self.partition, broker)",
            new="not broker.fenced",
        ),
    ),
)
