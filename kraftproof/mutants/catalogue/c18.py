"""C18: a registration with the id of a living broker is accepted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C18",
    title="A registration with the id of a living broker is accepted",
    source="ours; KIP-631 (Broker ID Conflicts)",
    expected="FencedInTime",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="registered and not is_same and is_live and not",
            new="registered and not is_same and not is_live and not",
        ),
    ),
)
