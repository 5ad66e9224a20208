"""H13: all clients with a quota share one budget."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H13",
    title="All clients with a quota share one budget",
    source="KIP-55",
    workload="quotas",
    expected="quotas/needless",
    edits=(
        Edit(
            module="kraftproof.node.core.quotas.applied",
            old="            return AppliedQuota(shared_by, bound)\n",
            new="            return AppliedQuota((None, None), bound)\n",
        ),
    ),
)
