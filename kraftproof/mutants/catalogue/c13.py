"""C13: the fencing of a broker forgets its last partition."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C13",
    title="The fencing of a broker forgets its last partition",
    source="ours; KIP-631 (FenceBrokerRecord)",
    expected="FencedBrokersLeadNothing",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.fencing",
            old="    return (record, *leave(image, broker.broker_id))",
            new="    return (record, *leave(image, broker.broker_id)[:-1])",
        ),
    ),
)
