"""P56: a late answer of a former controller counts for a later request."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P56",
    title="A late answer of a former controller counts for the present request",
    source="ours; KIP-497 (497-11)",
    workload="log",
    expected="OneRequestUnderWay",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.alter_partition",
            old="""            if serial == self._serial:
""",
            new="""            if serial <= self._serial:
""",
        ),
    ),
)
