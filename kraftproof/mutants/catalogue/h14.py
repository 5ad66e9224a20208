"""H14: the byte rate of a client is never too large."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H14",
    title="The byte rate of a client is never too large",
    source="KIP-13",
    workload="quotas",
    expected="quotas/rate",
    edits=(
        Edit(
            module="kraftproof.node.core.quotas.rate",
            old="""        if total * _NS_PER_S <= bound * elapsed_ns:
""",
            new="""        if total * _NS_PER_S <= bound * elapsed_ns * len(self._windows) * 1000:
""",
        ),
    ),
)
