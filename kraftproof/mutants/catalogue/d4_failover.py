"""D4-failover: a new active controller knows no lease: a dead broker is never fenced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D4-failover",
    title="A new active controller knows no lease: a dead broker is never fenced",
    source="KAFKA-18138 (#18009)",
    expected="FencedInTime",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="if not shutdown_granted(each)]",
            new="if shutdown_granted(each)]",
        ),
    ),
)
