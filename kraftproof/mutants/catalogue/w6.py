"""W6: a broker that is unregistered stays in its ISRs."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W6",
    title="A broker that is unregistered stays in its ISRs",
    source="ours; KIP-631 (631-63)",
    expected="FencedBrokersLeadNothing",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="(record, *leave(image, broker.broker_id)))",
            new="(record,))",
        ),
    ),
)
