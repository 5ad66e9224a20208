"""P16: a leader removes a lagging member without the controller."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P16",
    title="A leader removes a lagging member without the controller",
    source="ours; KIP-497 (497-08)",
    workload="log",
    expected="HighWatermarkIsFetched",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.isr",
            old="        return frozenset(self.committed) | frozenset(self.proposed)",
            new="        return frozenset(self.proposed or self.committed)",
        ),
    ),
)
