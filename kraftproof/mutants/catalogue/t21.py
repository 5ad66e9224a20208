"""T21: a leader overlooks the Fetch that brings only a newer start of the follower's log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T21",
    title="A Fetch that brings only a newer start of the follower's log wakes no DeleteRecords",
    source="ours; KIP-107, a bug that searches missed too often",
    expected="LeadersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="offset != progress.end_offset or start_offset != progress.start_offset",
            new="offset != progress.end_offset",
        ),
    ),
)
