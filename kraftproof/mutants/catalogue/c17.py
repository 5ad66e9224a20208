"""C17: an unfencing heartbeat is answered with isFenced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C17",
    title="An unfencing heartbeat is answered with isFenced",
    source="ours; KIP-631 (BrokerHeartbeat)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="        written, fenced = unfence(image, broker), False",
            new="        written = unfence(image, broker)",
        ),
    ),
)
