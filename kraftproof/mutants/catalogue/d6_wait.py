"""D6-wait: a broker whose shutdown was granted waits a session at its restart."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D6-wait",
    title="A broker whose shutdown was granted waits a session at its restart",
    source="KAFKA-19130, KAFKA-19047",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old=" and is_live and not shutdown_granted(registered):",
            new=" and is_live:",
        ),
    ),
)
