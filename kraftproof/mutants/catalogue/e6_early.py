"""E6-early: a reassignment completes before every target replica is in the ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="E6-early",
    title="A reassignment completes before every target replica is in the ISR",
    source="KAFKA-15665 (756f44a3e58)",
    workload="log",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.change",
            old="    if replicas and set(replicas) <= set(isr):",
            new="    if replicas and set(replicas) & set(isr):",
        ),
    ),
)
