"""P3: a lost answer ends a proposal: the leader falls back to the committed ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P3",
    title="A lost answer ends a proposal: the leader falls back to the committed ISR",
    source="ours; KIP-497 (497-11)",
    workload="log",
    expected="OneProposalAtATime",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.isr",
            old="        return replace(self, is_unsent=True) if self == sent else self",
            new="        return self._committed_only() if self == sent else self",
        ),
    ),
)
