"""T26: a leader ignores a new min.insync.replicas until it leads again."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T26",
    title="A leader keeps min.insync.replicas until the next leadership",
    source="ours; KIP-966, a state that no comparison drew",
    expected="ProposalsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old=(
                "        if self.leader is not None:\n"
                "            self.leader.min_isr = settings.min_isr\n"
            ),
            new="",
        ),
    ),
)
