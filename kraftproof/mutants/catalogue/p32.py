"""P32: a caught-up follower does not join the ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P32",
    title="A caught-up follower does not join the ISR",
    source="ours; KIP-497",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="        if self.isr.is_pending or replica in self.isr.committed:",
            new="        if self.isr.is_pending or replica in self.followers:",
        ),
    ),
)
