"""C12: an unregistered broker stays in the ISRs of its partitions."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C12",
    title="An unregistered broker stays in the ISRs of its partitions",
    source="ours; KIP-631 (UnregisterBroker)",
    expected="FencedBrokersLeadNothing",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="records=(record, *leave(image, broker.broker_id)))",
            new="records=(record,))",
        ),
    ),
)
