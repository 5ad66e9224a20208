"""C17: a heartbeat that unfences its broker is answered as if the broker were fenced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C17",
    title="A heartbeat that unfences its broker is answered as if the broker were fenced",
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
