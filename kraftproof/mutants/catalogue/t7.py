"""T7: a new controller gives leases to unfenced brokers only."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T7",
    title="A new controller gives leases to unfenced brokers only",
    source="ours; 631-44",
    expected="OneIncarnationPerSession",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""if not shutdown_granted(each)]""",
            new="""if not each.fenced]""",
        ),
    ),
)
