"""E1-fenced: a fenced broker may join an ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E1-fenced",
    title="A fenced broker may join an ISR",
    source="KAFKA-13916 (151ca12a56c, f83d95d9a28)",
    expected="FencedBrokersLeadNothing",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.isr",
            old="        broker is not None and broker.may_lead and member",
            new="        broker is not None and not broker.in_controlled_shutdown and member",
        ),
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="        if registration is None or not registration.may_lead:",
            new="        if registration is None or registration.in_controlled_shutdown:",
        ),
    ),
)
