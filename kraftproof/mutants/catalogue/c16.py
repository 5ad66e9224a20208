"""C16: a controlled shutdown begins without moving leaderships."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C16",
    title="A controlled shutdown begins without moving leaderships",
    source="ours; KIP-631 (Controlled Shutdown)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="        written = (begins, *(written or leave(image, broker.broker_id)))",
            new="        written = (begins, *written)",
        ),
    ),
)
